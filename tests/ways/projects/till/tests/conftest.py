import os

os.environ["TILL_OFFLINE"] = "1"
