/**
 * Forms of pages for people as they are drawn: new, or once more after they were refused, with what was typed and each
 * fault at its field. What is of no field that was drawn stands above.
 */
import { escaped } from './html.ts'
import { said } from './wording.ts'

export interface FormFault {
  /** The name of its field; null where it is of none. */
  field: string | null
  /** A sentence that stands at the field. */
  text: string
  /** One that stands anywhere. */
  above: string
}

export interface Sent {
  /** The path it was sent to. */
  address: string
  /** As they were typed; of files, their names. */
  fields: Readonly<Record<string, string>>
  faults: readonly FormFault[]
  locale: string
}

export interface Control {
  name: string
  label: string
  /** Its name, where the page has no other of it. */
  id?: string
  /** What it begins with. */
  first?: string
  /** Further attributes, as HTML. */
  more?: string
}

export interface Choice {
  value: string
  label: string
  note?: string | null
}

const keepsNoFiles = {
  en: 'Choose again, a browser keeps no files: ',
  'pt-BR': 'Escolha de novo, o navegador não guarda arquivos: ',
  es: 'Elige otra vez, el navegador no guarda archivos: ',
}

export class Filled {
  readonly #sent: Sent | null
  /** What has not been said yet. */
  readonly #left: Set<FormFault>
  #hasFocus = false

  /** Null: it is new. */
  constructor(sent: Sent | null = null) {
    this.#sent = sent
    this.#left = new Set(sent?.faults)
  }

  get isSent(): boolean {
    return this.#sent !== null
  }

  /** Whether every fault stands somewhere. */
  get isSaid(): boolean {
    return this.#left.size === 0
  }

  get fields(): Readonly<Record<string, string>> {
    return this.#sent?.fields ?? {}
  }

  /** Of several forms of a page, that which was sent to the address with these fields; any other is new. */
  of(address: string, fields: Readonly<Record<string, string>> = {}): Filled {
    const isIt = Object.entries(fields).every(([name, value]) => this.fields[name] === value)
    return this.#sent?.address === address && isIt ? this : new Filled()
  }

  /** `content` is HTML of what is drawn here. What is wrong with none of its fields stands above it. */
  form(attributes: string, content: string): string {
    return `${this.above()}<form method="post"${attributes}>${content}</form>`
  }

  /** What has been said nowhere else. */
  above(): string {
    if (this.isSaid) return ''
    const sentences = [...this.#left].map(({ above }) => above)
    this.#left.clear()
    return `<p class="wrong above" role="alert" tabindex="-1"${this.#focus()}>${escaped(sentences.join(' '))}</p>`
  }

  input(control: Control): string {
    const { id, name, marks, message, more } = this.#drawn(control)
    return `${labelOf(id, control)}<input id="${id}" name="${name}"${more} value="${escaped(this.#value(control))}"${marks}>${message}`
  }

  textarea(control: Control): string {
    const { id, name, marks, message, more } = this.#drawn(control)
    // The line end that a browser takes for none of the text.
    return `${labelOf(id, control)}<textarea id="${id}" name="${name}"${more}${marks}>\n${escaped(this.#value(control))}</textarea>${message}`
  }

  select(control: Control, choices: readonly Choice[]): string {
    const { id, name, marks, message, more } = this.#drawn(control)
    const chosen = this.#value(control)
    const options = choices.map(
      ({ value, label }) =>
        `<option value="${escaped(value)}"${value === chosen ? ' selected' : ''}>${escaped(label)}</option>`,
    )
    return `${labelOf(id, control)}<select id="${id}" name="${name}"${more}${marks}>${options.join('')}</select>${message}`
  }

  /** One of a few, whose name is that of the fieldset around them. */
  radios(control: Control, choices: readonly Choice[]): string {
    const { id, name, marks, message, more } = this.#drawn(control)
    const chosen = this.#value(control)
    const options = choices.map(
      ({ value, label, note }) =>
        `<label class="choice"><input type="radio" name="${name}" value="${escaped(value)}"${more}${value === chosen ? ' checked' : ''}>` +
        `<span>${escaped(label)}${note ? `<br><span class="note lines">${escaped(note)}</span>` : ''}</span></label>`,
    )
    return (
      `<fieldset><legend id="${id}-name">${escaped(control.label)}</legend>` +
      `<div role="radiogroup" id="${id}" aria-labelledby="${id}-name" tabindex="-1"${marks}>${options.join('')}</div>${message}</fieldset>`
    )
  }

  checkbox(control: Control): string {
    const { id, name, marks, message, more } = this.#drawn(control)
    const checked = this.fields[control.name] === undefined ? '' : ' checked'
    return (
      `<label class="choice"><input id="${id}" type="checkbox" name="${name}" value="true"${more}${checked}${marks}> ` +
      `${escaped(control.label)}</label>${message}`
    )
  }

  /** A browser is given no files by a page: those that were chosen are named. */
  files(control: Control): string {
    const chosen = this.fields[control.name]
    const note = this.#sent && chosen ? said(keepsNoFiles, this.#sent.locale) + chosen : null
    const { id, name, marks, message, more } = this.#drawn(control, note)
    return `${labelOf(id, control)}<input id="${id}" name="${name}" type="file"${more}${marks}>${message}`
  }

  #value({ name, first = '' }: Control): string {
    return this.fields[name] ?? first
  }

  #focus(): string {
    if (this.#hasFocus) return ''
    this.#hasFocus = true
    return ' autofocus'
  }

  /** A control's attributes, and what stands below it. */
  #drawn({ name, id = name, more }: Control, note: string | null = null) {
    const faults = [...this.#left].filter(({ field }) => field === name)
    for (const each of faults) this.#left.delete(each)
    const wrong = faults.length > 0 && `${id}-wrong`
    const told = [wrong, note !== null && `${id}-note`].filter(Boolean)
    const text = faults.map((each) => each.text).join(' ')
    return {
      id: escaped(id),
      name: escaped(name),
      more: more ? ` ${more}` : '',
      marks:
        (wrong ? ` aria-invalid="true"${this.#focus()}` : '') +
        (told.length > 0 ? ` aria-describedby="${escaped(told.join(' '))}"` : ''),
      message:
        (wrong ? `<p class="wrong" id="${escaped(wrong)}" role="alert">${escaped(text)}</p>` : '') +
        (note === null ? '' : `<p class="note" id="${escaped(id)}-note">${escaped(note)}</p>`),
    }
  }
}

const labelOf = (id: string, { label }: Control): string => `<label for="${id}">${escaped(label)}</label>`

/** What goes along unseen. */
export const hidden = (name: string, value: string): string =>
  `<input type="hidden" name="${escaped(name)}" value="${escaped(value)}">`
