"""`laya predict --batch`: a JSON line in, a JSON line out, for files of any length."""
