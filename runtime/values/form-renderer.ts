/**
 * Renders the forms of pages. A refused form is rendered again with the submitted values and each issue at its field.
 * Issues that belong to no rendered field are shown above the form.
 */
import { escapeHtml } from './html.ts'
import { getText } from './wording.ts'

export interface FormIssue {
  /** The name of the field that is invalid; null if the issue concerns no field. */
  field: string | null
  /** The message that is shown at the field. */
  text: string
  /** The message that is shown if the field is not rendered. */
  standalone: string
}

export interface SubmittedForm {
  /** The path that the form was submitted to. */
  address: string
  /** The submitted values; for files, their names. */
  fields: Readonly<Record<string, string>>
  issues: readonly FormIssue[]
  locale: string
}

export interface Control {
  name: string
  label: string
  /** The id of the element; needed if the page has another control with the same name. */
  id?: string
  /** The value in a new form. */
  initial?: string
  /** Further attributes as HTML. */
  attributes?: string
}

export interface Choice {
  value: string
  label: string
  note?: string | null
}

const chooseFilesAgain = {
  en: 'Choose again, a browser keeps no files: ',
  'pt-BR': 'Escolha de novo, o navegador não guarda arquivos: ',
  es: 'Elige otra vez, el navegador no guarda archivos: ',
}

export class FormRenderer {
  readonly #submitted: SubmittedForm | null
  /** Issues that are not shown yet. */
  readonly #unshown: Set<FormIssue>
  #hasFocus = false

  /** `sent`: the refused form that is rendered again; null for a new form. */
  constructor(sent: SubmittedForm | null = null) {
    this.#submitted = sent
    this.#unshown = new Set(sent?.issues)
  }

  get isSubmitted(): boolean {
    return this.#submitted !== null
  }

  /** Whether every issue was shown. */
  get isComplete(): boolean {
    return this.#unshown.size === 0
  }

  get fields(): Readonly<Record<string, string>> {
    return this.#submitted?.fields ?? {}
  }

  /**
   * For a page with several forms: returns this renderer for the form that was submitted to the address with these
   * fields, and the renderer of a new form for any other.
   */
  forAddress(address: string, fields: Readonly<Record<string, string>> = {}): FormRenderer {
    const isIt = Object.entries(fields).every(([name, value]) => this.fields[name] === value)
    return this.#submitted?.address === address && isIt ? this : new FormRenderer()
  }

  /** Renders a form. `content`: the HTML of its fields. Issues that none of them has shown appear above the form. */
  form(attributes: string, content: string): string {
    return `${this.renderUnshown()}<form method="post"${attributes}>${content}</form>`
  }

  /** Renders the issues that no field has shown. */
  renderUnshown(): string {
    if (this.isComplete) return ''
    const sentences = [...this.#unshown].map(({ standalone }) => standalone)
    this.#unshown.clear()
    return `<p class="wrong above" role="alert" tabindex="-1"${this.#focus()}>${escapeHtml(sentences.join(' '))}</p>`
  }

  input(control: Control): string {
    const { id, name, marks, message, more } = this.#render(control)
    return `${renderLabel(id, control)}<input id="${id}" name="${name}"${more} value="${escapeHtml(this.#value(control))}"${marks}>${message}`
  }

  textarea(control: Control): string {
    const { id, name, marks, message, more } = this.#render(control)
    // `\n` before the text: a browser drops the first line end of a textarea, which could be part of the text.
    return `${renderLabel(id, control)}<textarea id="${id}" name="${name}"${more}${marks}>\n${escapeHtml(this.#value(control))}</textarea>${message}`
  }

  select(control: Control, choices: readonly Choice[]): string {
    const { id, name, marks, message, more } = this.#render(control)
    const chosen = this.#value(control)
    const options = choices.map(
      ({ value, label }) =>
        `<option value="${escapeHtml(value)}"${value === chosen ? ' selected' : ''}>${escapeHtml(label)}</option>`,
    )
    return `${renderLabel(id, control)}<select id="${id}" name="${name}"${more}${marks}>${options.join('')}</select>${message}`
  }

  /** Renders radio buttons in a fieldset, whose legend is the control's label. */
  radios(control: Control, choices: readonly Choice[]): string {
    const { id, name, marks, message, more } = this.#render(control)
    const chosen = this.#value(control)
    const options = choices.map(
      ({ value, label, note }) =>
        `<label class="choice"><input type="radio" name="${name}" value="${escapeHtml(value)}"${more}${value === chosen ? ' checked' : ''}>` +
        `<span>${escapeHtml(label)}${note ? `<br><span class="note lines">${escapeHtml(note)}</span>` : ''}</span></label>`,
    )
    return (
      `<fieldset><legend id="${id}-name">${escapeHtml(control.label)}</legend>` +
      `<div role="radiogroup" id="${id}" aria-labelledby="${id}-name" tabindex="-1"${marks}>${options.join('')}</div>${message}</fieldset>`
    )
  }

  checkbox(control: Control): string {
    const { id, name, marks, message, more } = this.#render(control)
    const checked = this.fields[control.name] === undefined ? '' : ' checked'
    return (
      `<label class="choice"><input id="${id}" type="checkbox" name="${name}" value="true"${more}${checked}${marks}> ` +
      `${escapeHtml(control.label)}</label>${message}`
    )
  }

  /** Renders a file input. A page cannot preset files, so a note names those that were chosen before. */
  files(control: Control): string {
    const chosen = this.fields[control.name]
    const note = this.#submitted && chosen ? getText(chooseFilesAgain, this.#submitted.locale) + chosen : null
    const { id, name, marks, message, more } = this.#render(control, note)
    return `${renderLabel(id, control)}<input id="${id}" name="${name}" type="file"${more}${marks}>${message}`
  }

  #value({ name, initial = '' }: Control): string {
    return this.fields[name] ?? initial
  }

  #focus(): string {
    if (this.#hasFocus) return ''
    this.#hasFocus = true
    return ' autofocus'
  }

  /** Returns a control's attributes, and the messages below it. */
  #render({ name, id = name, attributes }: Control, note: string | null = null) {
    const issues = [...this.#unshown].filter(({ field }) => field === name)
    for (const each of issues) this.#unshown.delete(each)
    const wrong = issues.length > 0 && `${id}-wrong`
    const describedBy = [wrong, note !== null && `${id}-note`].filter(Boolean)
    const text = issues.map((each) => each.text).join(' ')
    return {
      id: escapeHtml(id),
      name: escapeHtml(name),
      more: attributes ? ` ${attributes}` : '',
      marks:
        (wrong ? ` aria-invalid="true"${this.#focus()}` : '') +
        (describedBy.length > 0 ? ` aria-describedby="${escapeHtml(describedBy.join(' '))}"` : ''),
      message:
        (wrong ? `<p class="wrong" id="${escapeHtml(wrong)}" role="alert">${escapeHtml(text)}</p>` : '') +
        (note === null ? '' : `<p class="note" id="${escapeHtml(id)}-note">${escapeHtml(note)}</p>`),
    }
  }
}

const renderLabel = (id: string, { label }: Control): string =>
  `<label for="${id}">${escapeHtml(label)}</label>`

/** Renders a hidden field. */
export const renderHidden = (name: string, value: string): string =>
  `<input type="hidden" name="${escapeHtml(name)}" value="${escapeHtml(value)}">`
