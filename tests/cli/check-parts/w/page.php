<!-- all of a page -->
<html><a href="gone.html">x</a>
