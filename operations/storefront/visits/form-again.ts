/** A form that was refused is shown once more, as it was filled in: each fault at its field, in words for shoppers. */
import type { Context } from '#runtime/context'
import type { ErrorCode, Refusal } from '#runtime/errors'
import { Filled, type FormFault } from '#runtime/values/filled'
import { inEach, said, type Wording } from '#runtime/values/wording'
import { asRefused, fieldStarts, type PeopleWords, refusedWords } from './shopper-page.ts'
import type { Visit } from './visit.ts'

/** How the page with a route's form is drawn. */
export interface FormAgain {
  /** Refuses what is no page any more: that is said instead. */
  draw(ctx: Context, visit: Visit, filled: Filled): Promise<Response>
  /** What a refused field is called in the form, where that is another name. */
  nameOf?(field: string, fields: Readonly<Record<string, string>>): string
}

/** What whoever filled in the form can do something about. */
const mendable: ReadonlySet<ErrorCode> = new Set(['bad_request', 'forbidden', 'not_found', 'conflict'])

/** Left empty by people, filled in by machines: never filled in by us. */
const trapName = 'website'
export const trap = `<div hidden><input name="${trapName}" tabindex="-1" autocomplete="off"></div>`

/** Null where it cannot be shown. */
export async function formAgain(
  ctx: Context,
  visit: Visit,
  { draw, nameOf = (field) => field }: FormAgain,
  people: PeopleWords,
  refusal: Refusal,
): Promise<Response | null> {
  const typed = mendable.has(refusal.code) ? await visit.typed() : null
  if (!typed) return null
  const { [trapName]: _, ...fields } = typed
  const { locale } = ctx.store
  const faults = faultsOf(refusal, people.fields ?? {}, locale).map((each) =>
    each.field === null ? each : { ...each, field: nameOf(each.field, fields) },
  )
  const filled = new Filled({ address: visit.address, fields, faults, locale })
  const page = await draw(ctx, visit, filled)
  // A page that does not say what is wrong is none.
  return filled.isSaid ? asRefused(page, refusal) : null
}

/** What of a form was refused, field by field. */
export function faultsOf(
  refusal: Refusal,
  names: Readonly<Record<string, Wording>>,
  locale: string,
): FormFault[] {
  const text = refusal.wording ? said(refusal.wording, locale) : refusal.message
  const starts = fieldStarts(text).filter(({ name }) => !refusal.wording || Object.hasOwn(names, name))
  if (starts[0]?.at !== 0 || !starts.some(({ name }) => Object.hasOwn(names, name))) {
    const sentence = sentenceOf(said(refusedWords(refusal, names), locale))
    return [{ field: null, text: sentence, above: sentence }]
  }
  return starts.map(({ path, name, from }, n) => {
    const fault = text.slice(from, starts[n + 1]?.at)
    const wording = refusal.wording ? inEach(() => fault) : wordsOf(fault)
    const words = said(wording, locale)
    const label = Object.hasOwn(names, name) ? said(names[name]!, locale) : name
    return { field: path, text: sentenceOf(words), above: sentenceOf(`${label}: ${words}`) }
  })
}

const sentenceOf = (text: string): string =>
  `${text.slice(0, 1).toUpperCase()}${text.slice(1)}${/[.!?…]$/.test(text) ? '' : '.'}`

/** What schemas say, for people. */
const known: readonly [RegExp, (bound: string) => Wording][] = [
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

function wordsOf(fault: string): Wording {
  for (const [pattern, words] of known) {
    const found = pattern.exec(fault)
    if (found) return words(found[1] ?? '')
  }
  return { en: fault, 'pt-BR': 'confira este campo', es: 'revisa este campo' }
}
