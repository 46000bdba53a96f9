"""What `noface doctor` looks at: the machine and the project, the models and their programs, GitHub."""
