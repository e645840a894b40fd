module zklab/exercises

go 1.26
