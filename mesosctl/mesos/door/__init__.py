"""The values that cross between mesosctl and the fake master: forecasts, replays, explanations of offers."""
