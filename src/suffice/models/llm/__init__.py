"""Language models of any provider behind the Model seam. The heavy imports happen at the first call."""
