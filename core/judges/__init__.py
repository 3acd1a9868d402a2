"""Language models as voters, marked for ever: what they are asked, what an answer means, what their answers say."""
