"""Images as bags of pixels: the clustering table of the paper."""
