"""A dataset in the forms in which other people's programs evaluate models by it.

They are a task for MTEB, and the comparisons that people were asked, each in both orders, for Inspect, the LM
Evaluation Harness and the Hub.
"""
