module example.org/route

go 1.19
