/** Renders pages for shoppers in the store's language, including error pages. */
import { answerHtml, escapeHtml } from '#operations/store/index'
import { type ApiError, type ErrorCode, toHttpStatus } from '#runtime/errors'
import { buildWording, getLangAttribute, getText, type Wording } from '#runtime/values/wording'

export interface ShopperTexts {
  /** Title of the error page. */
  refused?: Wording
  /** Labels of the form's fields. */
  fields?: Readonly<Record<string, Wording>>
  /** Shown for a link that is not valid (404). */
  missing?: { title: Wording; text: Wording }
  moreStyle?: string
}

/** Renders a page. `body` is HTML; the caller has escaped the texts in it. */
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

/** Fallback texts for errors without a wording of their own. English uses the error's message. */
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

/** Matches the field at the start of each issue in an error message: `items.0.reason: `. */
const issueFieldPattern = /(^|; )([a-zA-Z]+)(?:\.\d+)?(?:\.([a-zA-Z]+))?: /g

/**
 * Finds the issues in an error message. `at` is the index of the field's path, `from` the index of the text after it, and
 * `name` the last part of the path.
 */
export const findFieldStarts = (text: string): { at: number; path: string; name: string; from: number }[] =>
  [...text.matchAll(issueFieldPattern)].map(({ 0: start, 1: before, 2: one, 3: two, index }) => ({
    at: index,
    path: start.slice(before!.length, -2),
    name: two ?? one!,
    from: index + start.length,
  }))

/** Renders the error page for a refusal. */
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

/** Returns the page with the status and headers of the refusal. */
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
