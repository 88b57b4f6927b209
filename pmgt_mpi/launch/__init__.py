"""Job scripts for clusters: the files of launch/, filled in."""
