"""Known changes of real tables: detections, first named columns and words."""
