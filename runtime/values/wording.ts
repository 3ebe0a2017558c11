/**
 * Built-in texts for shoppers, in every language. Until a merchant writes an own text, the merchant sees the English
 * one, and shoppers see the one in the store's language (rule 35).
 */
export interface Wording {
  en: string
  'pt-BR': string
  es: string
}

export type Language = keyof Wording

/** The built-in texts of some content, field by field. For a list, a function that returns the texts of an item. */
export type Words<Content> =
  NonNullable<Content> extends string
    ? Wording
    : NonNullable<Content> extends readonly (infer Item)[]
      ? (item: Item) => Words<Item> | undefined
      : { readonly [Field in keyof Content]?: Words<Content[Field]> }

export type LocalizedTexts<Texts> = {
  [Field in keyof Texts as Texts[Field] extends (item: never) => unknown
    ? never
    : Field]: Texts[Field] extends Wording ? string : LocalizedTexts<Texts[Field]>
}

/** The language of a locale such as `pt-BR`; English if there are no texts in it. */
export function getLanguage(locale: string): Language {
  const [language] = locale.toLowerCase().split('-')
  return language === 'pt' ? 'pt-BR' : language === 'es' ? 'es' : 'en'
}

export const getText = (wording: Wording, locale: string): string => wording[getLanguage(locale)]

/** The `lang` attribute: the locale itself if there are texts in its language, otherwise the language of the texts. */
export const getLangAttribute = (locale: string): string =>
  getText({ en: /^en\b/i.test(locale) ? locale : 'en', 'pt-BR': locale, es: locale }, locale)

/** Builds a wording. `made` is called once per language, with a function that picks the language's text of a part. */
export const buildWording = (made: (say: (wording: Wording) => string) => string): Wording => ({
  en: made(({ en }) => en),
  'pt-BR': made((wording) => wording['pt-BR']),
  es: made(({ es }) => es),
})

const isWording = (words: object): words is Wording => 'en' in words && typeof words.en === 'string'

/** Returns the texts of a page or a mail in the language of the locale. Texts of lists are left out. */
export function getTexts<const Texts extends object>(words: Texts, locale: string): LocalizedTexts<Texts> {
  const texts = Object.entries(words).flatMap(([field, its]) =>
    typeof its === 'function' ? [] : [[field, isWording(its) ? getText(its, locale) : getTexts(its, locale)]],
  )
  return Object.fromEntries(texts) as LocalizedTexts<Texts>
}

/** Returns the English texts, which are the defaults of settings. Texts of lists are left out. */
export const getEnglishTexts = <const Texts extends object>(words: Texts): LocalizedTexts<Texts> =>
  getTexts(words, 'en')

/** Translates default texts that the merchant has not changed to the language of the locale. */
export function translateBuiltIn<Content>(content: Content, words: Words<Content>, locale: string): Content {
  return translate(content, words as Node, getLanguage(locale)) as Content
}

type Node = Wording | ((item: unknown) => Node | undefined) | { readonly [field: string]: Node }

function translate(content: unknown, words: Node | undefined, language: Language): unknown {
  if (!words || content === null || content === undefined) return content
  if (typeof words === 'function')
    return (content as unknown[]).map((item) => translate(item, words(item), language))
  if (isWording(words)) return content === words.en ? words[language] : content
  const its = Object.entries(words).filter(([field]) => field in (content as object))
  const texts = its.map(([field, each]) => [
    field,
    translate((content as Record<string, unknown>)[field], each, language),
  ])
  return { ...(content as object), ...Object.fromEntries(texts) }
}
