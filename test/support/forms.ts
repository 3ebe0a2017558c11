/** Forms of pages, parsed from their HTML as a browser would send them. */

export interface FormControl {
  name: string
  id: string | null
  kind: 'text' | 'email' | 'number' | 'textarea' | 'select' | 'checkbox' | 'radio' | 'file' | 'hidden'
  /** The chosen or ticked value; null if it is not sent. */
  value: string | null
  options: string[]
  isRequired: boolean
  maxLength: number | null
  isWrong: boolean
  hasFocus: boolean
  /** Its description. */
  description: string
}

export interface PageForm {
  /** Null: sent to the page's own address. */
  action: string | null
  isMultipart: boolean
  controls: FormControl[]
}

const text = (html: string): string =>
  html.replace(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code)))
const attribute = (tag: string, name: string): string | null => {
  const [, value] = new RegExp(`\\s${name}(?:="([^"]*)")?(?=[\\s>])`).exec(tag) ?? [null, null]
  return value === null ? null : text(value ?? '')
}

/** All forms of a page, in order. */
export const parseForms = (page: string): PageForm[] =>
  [...page.matchAll(/(<form[^>]*>)([\s\S]*?)<\/form>/g)].map(([, tag, content]) => ({
    action: attribute(tag!, 'action'),
    isMultipart: attribute(tag!, 'enctype') === 'multipart/form-data',
    controls: parseControls(content!, page),
  }))

function parseControls(content: string, page: string): FormControl[] {
  const found = content.matchAll(
    /(<input[^>]*>)|(<textarea[^>]*>)\n?([\s\S]*?)<\/textarea>|(<select[^>]*>)([\s\S]*?)<\/select>/g,
  )
  const controls: FormControl[] = []
  for (const [, input, textarea, written, select, choices] of found) {
    const tag = (input ?? textarea ?? select)!
    const type = input ? (attribute(tag, 'type') ?? 'text') : textarea ? 'textarea' : 'select'
    const name = attribute(tag, 'name')!
    const options = [...(choices ?? '').matchAll(/<option[^>]*>/g)].map(([option]) => option)
    const ticked = attribute(tag, 'checked') === null ? null : attribute(tag, 'value')
    const chosen = options.find((option) => attribute(option, 'selected') !== null) ?? options[0] ?? ''
    const value = {
      textarea: () => text(written!),
      select: () => attribute(chosen, 'value'),
      checkbox: () => ticked,
      radio: () => ticked,
      file: () => null,
    }[type]
    // Radio buttons of one name are one control, described by the element around them.
    const group = type === 'radio' ? (/<div role="radiogroup"[^>]*>/.exec(content)?.[0] ?? tag) : tag
    const known = controls.find((each) => type === 'radio' && each.name === name)
    if (known) {
      known.options.push(attribute(tag, 'value')!)
      known.value ??= ticked
      continue
    }
    const ids = (attribute(group, 'aria-describedby') ?? '').split(' ').filter(Boolean)
    controls.push({
      name,
      id: attribute(group, 'id'),
      kind: type as FormControl['kind'],
      value: value ? value() : (attribute(tag, 'value') ?? ''),
      options:
        type === 'radio' ? [attribute(tag, 'value')!] : options.map((each) => attribute(each, 'value')!),
      isRequired: attribute(tag, 'required') !== null,
      maxLength: Number(attribute(tag, 'maxlength')) || null,
      isWrong: attribute(group, 'aria-invalid') === 'true',
      hasFocus: attribute(group, 'autofocus') !== null,
      description: ids
        .map((id) => text(new RegExp(`id="${id}"[^>]*>([^<]*)`).exec(page)?.[1] ?? ''))
        .join(' '),
    })
  }
  return controls
}

/** The body that a browser would send; `given` by name, null for a control that is not sent. */
export function buildBody(
  form: PageForm,
  given: Readonly<Record<string, string | Blob | null>>,
): Record<string, string> | FormData {
  const fields = new FormData()
  const own = form.controls.map(({ name, value }): [string, string | Blob | null] => [name, value])
  for (const [name, value] of Object.entries({ ...Object.fromEntries(own), ...given })) {
    if (value instanceof Blob) fields.append(name, value, 'Bia.png')
    else if (value !== null) fields.append(name, value)
  }
  return form.isMultipart ? fields : (Object.fromEntries(fields) as Record<string, string>)
}
