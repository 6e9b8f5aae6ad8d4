// The request as a form.

import { byId, growing } from "./dom.js";
import { QuestionList } from "./questions.js";
import { SettingsFields } from "./settings-fields.js";
import { StateField } from "./state-field.js";

export class Form {
  constructor(requestDocument, problems) {
    this.document = requestDocument;
    this.fields = byId("form-fields");
    this.notice = byId("form-notice");
    growing(byId("state"));
    const questions = new QuestionList(byId("questions"), requestDocument, problems);
    this.parts = [
      new StateField(requestDocument, problems),
      questions,
      new SettingsFields(requestDocument, problems),
    ];
    byId("add-question").addEventListener("click", () => questions.add());
    byId("discard-json").addEventListener("click", () => {
      requestDocument.discardText();
      byId("state").focus();
    });
    requestDocument.addEventListener("change", ({ detail }) => {
      if (detail.origin !== "form" && detail.origin !== "checkpoint") this.draw();
    });
  }

  /** Show what the document says; while its text has an error the form rests. */
  draw() {
    const { body, error } = this.document;
    const readable = error === null && body instanceof Map && isForm(body);
    this.fields.inert = !readable;
    this.notice.hidden = readable;
    byId("discard-json").hidden = error === null;
    byId("form-notice-text").textContent = error
      ? `The JSON has a mistake, so the form waits. ${error.sentence}.`
      : "The form shows requests that are an object whose questions are an object. Change this one in JSON.";
    if (readable) for (const part of this.parts) part.draw();
  }
}

function isForm(body) {
  return !body.has("questions") || body.get("questions") instanceof Map;
}
