/** Pages for shoppers, in the store's language, including pages for refusals. */
import { answerHtml, escapeHtml } from '#operations/store/index'
import { type ApiError, type ErrorCode, toHttpStatus } from '#runtime/errors'
import { buildWording, getLangAttribute, getText, type Wording } from '#runtime/values/wording'

export interface ShopperTexts {
  /** The title of a refusal. */
  refused?: Wording
  /** Labels of the form's fields. */
  fields?: Readonly<Record<string, Wording>>
  /** For links that lead nowhere. */
  missing?: { title: Wording; text: Wording }
  moreStyle?: string
}

/** `body` is HTML with escaped texts. */
export const renderShopperPage = (
  locale: string,
  title: string,
  body: string,
  { status = 200, moreStyle = '' }: { status?: number; moreStyle?: string } = {},
): Response => answerHtml(title, body, status, { lang: getLangAttribute(locale), moreStyle })

const defaultMissing = {
  title: { en: 'There is nothing here', 'pt-BR': 'Não há nada aqui', es: 'Aquí no hay nada' },
  text: {
    en: 'Look whether the address is complete.',
    'pt-BR': 'Verifique se o endereço está completo.',
    es: 'Comprueba que la dirección esté completa.',
  },
}

const renderMissingPage = (locale: string, { title, text } = defaultMissing): Response =>
  renderShopperPage(locale, getText(title, locale), `<p>${escapeHtml(getText(text, locale))}</p>`, {
    status: 404,
  })

const refusedTitle = { en: 'That did not work', 'pt-BR': 'Não deu certo', es: 'No funcionó' }
const goBack = {
  en: 'Go back, and try again.',
  'pt-BR': 'Volte e tente de novo.',
  es: 'Vuelve atrás e inténtalo de nuevo.',
}

/** Fallback for refusals without a wording of their own; English uses the refusal's message. */
const fallbackWording: Record<ErrorCode, Omit<Wording, 'en'>> = {
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

/** The field of an issue at the start of a refusal: `items.0.reason: `. */
const issueFieldPattern = /(^|; )([a-zA-Z]+)(?:\.\d+)?(?:\.([a-zA-Z]+))?: /g

/** The start of each field's part of a refusal: at its path, and after it. `name`: the field's own name. */
export const findFieldStarts = (text: string): { at: number; path: string; name: string; from: number }[] =>
  [...text.matchAll(issueFieldPattern)].map(({ 0: start, 1: before, 2: one, 3: two, index }) => ({
    at: index,
    path: start.slice(before!.length, -2),
    name: two ?? one!,
    from: index + start.length,
  }))

/** The page for a refusal, with the page's texts. */
export function renderRefusedPage(
  locale: string,
  refusal: ApiError,
  { refused = refusedTitle, fields = {}, missing, moreStyle }: ShopperTexts,
): Response {
  if (refusal.code === 'not_found' && !refusal.wording) return renderMissingPage(locale, missing)
  const page = renderShopperPage(
    locale,
    getText(refused, locale),
    `<p role="alert">${escapeHtml(getText(getRefusalWording(refusal, fields), locale))}.</p><p>${escapeHtml(getText(goBack, locale))}</p>`,
    moreStyle ? { moreStyle } : {},
  )
  return withRefusalStatus(page, refusal)
}

/** A page with the status and headers of the refusal. */
export function withRefusalStatus({ body, headers }: Response, refusal: ApiError): Response {
  const page = new Response(body, { status: toHttpStatus(refusal.code), headers })
  for (const [name, value] of Object.entries(refusal.headers ?? {})) page.headers.set(name, value)
  return page
}

export function getRefusalWording(
  { code, message, wording }: ApiError,
  fields: Readonly<Record<string, Wording>>,
): Wording {
  const named = (text: string, say: (name: Wording) => string): string =>
    text.replace(issueFieldPattern, (all, start: string, one: string, two?: string) => {
      const name = fields[two ?? one]
      return name ? `${start}${say(name)}: ` : all
    })
  if (wording) return buildWording((say) => named(say(wording), say))
  const faulty = [...message.matchAll(issueFieldPattern)].flatMap(
    ([, , one, two]) => fields[two ?? one!] ?? [],
  )
  const inWords = buildWording((say) =>
    [say({ ...fallbackWording[code], en: '' }), [...new Set(faulty.map(say))].join(', ')]
      .filter(Boolean)
      .join(': '),
  )
  return { ...inWords, en: named(message, ({ en }) => en) }
}
