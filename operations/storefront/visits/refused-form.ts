/** Shows a refused form again with the entered values and each issue at its field, worded for shoppers. */
import type { Context } from '#runtime/context'
import type { ApiError, ErrorCode } from '#runtime/errors'
import { type FormIssue, FormRenderer } from '#runtime/values/form-renderer'
import { buildWording, getText, type Wording } from '#runtime/values/wording'
import { findFieldStarts, getRefusalWording, type ShopperTexts, withRefusalStatus } from './shopper-page.ts'
import type { Visit } from './visit.ts'

/** How a route's form is shown again. */
export interface FormPage {
  /**
   * Draws the page with the form. May throw an `ApiError` if the page no longer exists; that error is then returned
   * instead.
   */
  draw(ctx: Context, visit: Visit, filled: FormRenderer): Promise<Response>
  /** Maps the field name of an error to the form's field name. Only needed if they differ. */
  toFieldName?(field: string, fields: Readonly<Record<string, string>>): string
}

/** Errors that the person who filled in the form can fix. */
const fixableCodes: ReadonlySet<ErrorCode> = new Set(['bad_request', 'forbidden', 'not_found', 'conflict'])

/** Honeypot: people leave it empty, bots fill it in. Never filled in by us. */
const honeypotName = 'website'
export const honeypot = `<div hidden><input name="${honeypotName}" tabindex="-1" autocomplete="off"></div>`

/** Returns the page with the refused form, or null if it cannot be drawn. */
export async function redrawForm(
  ctx: Context,
  visit: Visit,
  { draw, toFieldName = (field) => field }: FormPage,
  people: ShopperTexts,
  refusal: ApiError,
): Promise<Response | null> {
  const typed = fixableCodes.has(refusal.code) ? await visit.typed() : null
  if (!typed) return null
  const { [honeypotName]: _, ...fields } = typed
  const { locale } = ctx.store
  const faults = toFormIssues(refusal, people.fields ?? {}, locale).map((each) =>
    each.field === null ? each : { ...each, field: toFieldName(each.field, fields) },
  )
  const filled = new FormRenderer({ address: visit.address, fields, issues: faults, locale })
  const page = await draw(ctx, visit, filled)
  // Not used unless the page shows all issues.
  return filled.isComplete ? withRefusalStatus(page, refusal) : null
}

/** The issues of a refused form, field by field. */
export function toFormIssues(
  refusal: ApiError,
  names: Readonly<Record<string, Wording>>,
  locale: string,
): FormIssue[] {
  const text = refusal.wording ? getText(refusal.wording, locale) : refusal.message
  const starts = findFieldStarts(text).filter(({ name }) => !refusal.wording || Object.hasOwn(names, name))
  if (starts[0]?.at !== 0 || !starts.some(({ name }) => Object.hasOwn(names, name))) {
    const sentence = toSentence(getText(getRefusalWording(refusal, names), locale))
    return [{ field: null, text: sentence, standalone: sentence }]
  }
  return starts.map(({ path, name, from }, n) => {
    const fault = text.slice(from, starts[n + 1]?.at)
    const wording = refusal.wording ? buildWording(() => fault) : toWording(fault)
    const words = getText(wording, locale)
    const label = Object.hasOwn(names, name) ? getText(names[name]!, locale) : name
    return { field: path, text: toSentence(words), standalone: toSentence(`${label}: ${words}`) }
  })
}

const toSentence = (text: string): string =>
  `${text.slice(0, 1).toUpperCase()}${text.slice(1)}${/[.!?…]$/.test(text) ? '' : '.'}`

/** Patterns of schema messages, each with a wording for shoppers. */
const schemaMessages: readonly [RegExp, (bound: string) => Wording][] = [
  [
    /^(?:is required|must not be empty)$/,
    () => ({ en: 'fill this in', 'pt-BR': 'preencha este campo', es: 'rellena este campo' }),
  ],
  [
    /^must have at most (\d+) characters$/,
    (most) => ({
      en: `at most ${most} characters`,
      'pt-BR': `no máximo ${most} caracteres`,
      es: `como máximo ${most} caracteres`,
    }),
  ],
  [
    /^must be at least (\d+)$/,
    (least) => ({ en: `at least ${least}`, 'pt-BR': `no mínimo ${least}`, es: `como mínimo ${least}` }),
  ],
  [
    /^must be at most (\d+)$/,
    (most) => ({ en: `at most ${most}`, 'pt-BR': `no máximo ${most}`, es: `como máximo ${most}` }),
  ],
  [
    /^must be a (?:whole )?number$/,
    () => ({
      en: 'give a whole number',
      'pt-BR': 'informe um número inteiro',
      es: 'indica un número entero',
    }),
  ],
  [
    /^must be an email address$/,
    () => ({
      en: 'give a full email address',
      'pt-BR': 'informe um e-mail completo',
      es: 'indica un correo completo',
    }),
  ],
  [
    /^must be true\b/,
    () => ({ en: 'tick this to go on', 'pt-BR': 'marque para continuar', es: 'marca para continuar' }),
  ],
  [
    /^must not contain control characters$/,
    () => ({
      en: 'it had marks that cannot be seen: they are gone now, send it again',
      'pt-BR': 'havia sinais invisíveis: nós os tiramos, envie de novo',
      es: 'había signos invisibles: los hemos quitado, envíalo otra vez',
    }),
  ],
]

function toWording(fault: string): Wording {
  for (const [pattern, words] of schemaMessages) {
    const found = pattern.exec(fault)
    if (found) return words(found[1] ?? '')
  }
  return { en: fault, 'pt-BR': 'confira este campo', es: 'revisa este campo' }
}
