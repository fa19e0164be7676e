"""What would happen: changes tried out on a picture of the cluster, with nothing sent but reads.

rehearsing   a rehearsal of a live master or a file, and what a refusal in it means
deeds        the changes of `mesosctl whatif`, one by one
"""
