"""The titles of a report's sections, in their order. Every renderer takes them from here."""

from enum import StrEnum


class ReportSection(StrEnum):
    """A section of a report. Its answer stands above them and has no title of its own."""

    DISAGREEMENTS = "Where the sources disagree"
    CLOSEST = "Closest passages, which do not answer the question"
    READ = "What was read"
    FINDINGS = "Key findings"
    RECOMMENDATIONS = "Recommendations"
    RISKS = "Risks"
    COVERAGE = "How much was read"
    REMOVED = "Removed by the check"
    OPEN_QUESTIONS = "Open questions"
    LEFT_UNDONE = "Left undone"
    SOURCES = "Sources"
    COMPUTATIONS = "Computed from the sources"
    STOP = "Why it stopped"
    REVIEW = "How the answer was reviewed"
    FRUITLESS = "Searches that found nothing new"


WRITTEN_SECTIONS = (ReportSection.FINDINGS, ReportSection.RECOMMENDATIONS, ReportSection.RISKS)
"""The sections that the writer fills. All others say how the report was made; a claim check of a report skips them."""
