filedesc://old.arc 0.0.0.0 20260101000000 text/plain 76
1 0 x
