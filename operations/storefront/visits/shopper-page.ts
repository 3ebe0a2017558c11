/** Pages that shoppers open: in the language of the store, and what is refused them as well. */
import { escaped, htmlAnswer } from '#operations/store/door'
import { type ErrorCode, type Refusal, statusOf } from '#runtime/errors'
import { inEach, langOf, said, type Wording } from '#runtime/values/wording'

export interface PeopleWords {
  /** The title of what is refused. */
  refused?: Wording
  /** Fields of the page's forms, as they are labelled. */
  fields?: Readonly<Record<string, Wording>>
  /** Where a link leads to nothing. */
  missing?: { title: Wording; text: Wording }
  moreStyle?: string
}

/** `body` is HTML, its texts escaped already. */
export const shopperPage = (
  locale: string,
  title: string,
  body: string,
  { status = 200, moreStyle = '' }: { status?: number; moreStyle?: string } = {},
): Response => htmlAnswer(title, body, status, { lang: langOf(locale), moreStyle })

const nothing = {
  title: { en: 'There is nothing here', 'pt-BR': 'Não há nada aqui', es: 'Aquí no hay nada' },
  text: {
    en: 'Look whether the address is complete.',
    'pt-BR': 'Verifique se o endereço está completo.',
    es: 'Comprueba que la dirección esté completa.',
  },
}

const missingPage = (locale: string, { title, text } = nothing): Response =>
  shopperPage(locale, said(title, locale), `<p>${escaped(said(text, locale))}</p>`, { status: 404 })

const refusedTitle = { en: 'That did not work', 'pt-BR': 'Não deu certo', es: 'No funcionó' }
const goBack = {
  en: 'Go back, and try again.',
  'pt-BR': 'Volte e tente de novo.',
  es: 'Vuelve atrás e inténtalo de nuevo.',
}

/** Of a refusal that has no wording of its own; English says its sentence. */
const otherwise: Record<ErrorCode, Omit<Wording, 'en'>> = {
  bad_request: { 'pt-BR': 'Confira o que você preencheu', es: 'Revisa lo que has rellenado' },
  unauthorized: { 'pt-BR': 'O acesso não é permitido', es: 'El acceso no está permitido' },
  forbidden: { 'pt-BR': 'Isso não é permitido', es: 'Eso no está permitido' },
  not_found: { 'pt-BR': 'Não foi encontrado', es: 'No se ha encontrado' },
  conflict: { 'pt-BR': 'Isso não é possível agora', es: 'Eso no es posible ahora' },
  payload_too_large: {
    'pt-BR': 'O que você enviou é grande demais',
    es: 'Lo que has enviado es demasiado grande',
  },
  rate_limited: {
    'pt-BR': 'Muitas tentativas: tente de novo mais tarde',
    es: 'Demasiados intentos: vuelve a intentarlo más tarde',
  },
  unavailable: {
    'pt-BR': 'O serviço está indisponível: tente de novo mais tarde',
    es: 'El servicio no está disponible: vuelve a intentarlo más tarde',
  },
}

/** A fault's field, as refusals begin: `items.0.reason: `. */
const faults = /(^|; )([a-zA-Z]+)(?:\.\d+)?(?:\.([a-zA-Z]+))?: /g

/** Where what is said of a field begins: at its path, and after it. `name`: what the field itself is called. */
export const fieldStarts = (text: string): { at: number; path: string; name: string; from: number }[] =>
  [...text.matchAll(faults)].map(({ 0: start, 1: before, 2: one, 3: two, index }) => ({
    at: index,
    path: start.slice(before!.length, -2),
    name: two ?? one!,
    from: index + start.length,
  }))

/** What was refused, in the words of the page. */
export function refusedPage(
  locale: string,
  refusal: Refusal,
  { refused = refusedTitle, fields = {}, missing, moreStyle }: PeopleWords,
): Response {
  if (refusal.code === 'not_found' && !refusal.wording) return missingPage(locale, missing)
  const page = shopperPage(
    locale,
    said(refused, locale),
    `<p role="alert">${escaped(said(refusedWords(refusal, fields), locale))}.</p><p>${escaped(said(goBack, locale))}</p>`,
    moreStyle ? { moreStyle } : {},
  )
  return asRefused(page, refusal)
}

/** A page with the status and the headers of what it says was refused. */
export function asRefused({ body, headers }: Response, refusal: Refusal): Response {
  const page = new Response(body, { status: statusOf(refusal.code), headers })
  for (const [name, value] of Object.entries(refusal.headers ?? {})) page.headers.set(name, value)
  return page
}

export function refusedWords(
  { code, message, wording }: Refusal,
  fields: Readonly<Record<string, Wording>>,
): Wording {
  const named = (text: string, say: (name: Wording) => string): string =>
    text.replace(faults, (all, start: string, one: string, two?: string) => {
      const name = fields[two ?? one]
      return name ? `${start}${say(name)}: ` : all
    })
  if (wording) return inEach((say) => named(say(wording), say))
  const faulty = [...message.matchAll(faults)].flatMap(([, , one, two]) => fields[two ?? one!] ?? [])
  const inWords = inEach((say) =>
    [say({ ...otherwise[code], en: '' }), [...new Set(faulty.map(say))].join(', ')]
      .filter(Boolean)
      .join(': '),
  )
  return { ...inWords, en: named(message, ({ en }) => en) }
}
