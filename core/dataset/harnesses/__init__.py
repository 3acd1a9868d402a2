"""A dataset as other people's programs evaluate models by it.

A task for MTEB, and the comparisons that people were asked, each in both orders, for Inspect, the LM Evaluation Harness
and the Hub.
"""
