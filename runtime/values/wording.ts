/**
 * Texts that are built in, in every language in which shoppers are spoken to. The English one is what a merchant is
 * answered until he writes his own; whoever shows it to shoppers says it in the store's language (rule 35).
 */
export interface Wording {
  en: string
  'pt-BR': string
  es: string
}

export type Language = keyof Wording

/** The built-in texts of some content, where it has them. Of a list, those of each of its items. */
export type Words<Content> =
  NonNullable<Content> extends string
    ? Wording
    : NonNullable<Content> extends readonly (infer Item)[]
      ? (item: Item) => Words<Item> | undefined
      : { readonly [Field in keyof Content]?: Words<Content[Field]> }

export type Spoken<Texts> = {
  [Field in keyof Texts as Texts[Field] extends (item: never) => unknown
    ? never
    : Field]: Texts[Field] extends Wording ? string : Spoken<Texts[Field]>
}

/** Of a locale such as `pt-BR`; English where there are no texts in it. */
export function languageOf(locale: string): Language {
  const [language] = locale.toLowerCase().split('-')
  return language === 'pt' ? 'pt-BR' : language === 'es' ? 'es' : 'en'
}

export const said = (wording: Wording, locale: string): string => wording[languageOf(locale)]

/** The locale for `lang`: its own where it is spoken, and that of the texts where it is not. */
export const langOf = (locale: string): string =>
  said({ en: /^en\b/i.test(locale) ? locale : 'en', 'pt-BR': locale, es: locale }, locale)

/** What is put together of texts that are the same in every language, and of some that are not. */
export const inEach = (made: (say: (wording: Wording) => string) => string): Wording => ({
  en: made(({ en }) => en),
  'pt-BR': made((wording) => wording['pt-BR']),
  es: made(({ es }) => es),
})

const isWording = (words: object): words is Wording => 'en' in words && typeof words.en === 'string'

/** The words of a page or a mail, in the language of the locale; what stands in lists is left out. */
export function spoken<const Texts extends object>(words: Texts, locale: string): Spoken<Texts> {
  const texts = Object.entries(words).flatMap(([field, its]) =>
    typeof its === 'function' ? [] : [[field, isWording(its) ? said(its, locale) : spoken(its, locale)]],
  )
  return Object.fromEntries(texts) as Spoken<Texts>
}

/** As settings are until somebody saves them: what stands in lists is theirs. */
export const english = <const Texts extends object>(words: Texts): Spoken<Texts> => spoken(words, 'en')

/** What is left as it is built in is said in the language of the locale; what a merchant wrote stays. */
export function inWords<Content>(content: Content, words: Words<Content>, locale: string): Content {
  return translated(content, words as Node, languageOf(locale)) as Content
}

type Node = Wording | ((item: unknown) => Node | undefined) | { readonly [field: string]: Node }

function translated(content: unknown, words: Node | undefined, language: Language): unknown {
  if (!words || content === null || content === undefined) return content
  if (typeof words === 'function')
    return (content as unknown[]).map((item) => translated(item, words(item), language))
  if (isWording(words)) return content === words.en ? words[language] : content
  const its = Object.entries(words).filter(([field]) => field in (content as object))
  const texts = its.map(([field, each]) => [
    field,
    translated((content as Record<string, unknown>)[field], each, language),
  ])
  return { ...(content as object), ...Object.fromEntries(texts) }
}
