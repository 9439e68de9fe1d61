"""What is generated from the declarations of the options."""
