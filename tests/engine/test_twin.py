"""The main job without an editor gives, to the letter, the text that it gives in Neovim."""

from tests.editor.test_cycle import EDITED, GREETING, MAIN_JOB, TRANSCRIPT
from tests.engine.bodies import result_text, results
from tests.engine.conftest import Chat


def test_the_main_job_gives_the_same_text_as_in_the_editor(chat: Chat):  # issue A
    (chat.directory / "greet.py").write_text(GREETING)
    # As in the editor, where the prompt is the last line and the file ends in a newline.
    chat.write("@You:\nMake the greeting friendlier.\n")
    assert chat.run(*MAIN_JOB[:3], model="claude-sonnet-4-6").code == 3
    assert (chat.directory / "greet.py").read_text() == EDITED
    chat.replace("(pending)", "(approved)")
    ran = chat.run(*MAIN_JOB[3:], model="claude-sonnet-4-6")
    assert ran.code == 0
    edit_result = result_text(results(chat.bodies[-1])["toolu_edit"])
    assert ran.text == TRANSCRIPT.replace("EDIT_RESULT", edit_result) + "\n"
