"""Label errors: planted flips, committee, mixture, label doubt, detector and the list of suspects."""
