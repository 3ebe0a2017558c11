/** A section of the API: the default export of `section.ts` in its folder names and describes it. */

export interface Section {
  readonly kind: 'section'
  title: string
  description: string
  /** Its place among the sections. */
  position: number
  /** Operation ids in the order they are listed; others follow. */
  order: readonly string[]
  /** What merchants call its things: assistants find its operations by these words. */
  words?: SectionWords
}

interface SectionWords {
  /** Each line: English words that mean the like, wherever they stand. */
  alike?: readonly string[]
  /** The same of words that mean something else in other sections: a label may be a tag. */
  alikeHere?: readonly string[]
  /**
   * Portuguese and Spanish words without accents before the English ones that they may mean: `cor color: colour`.
   * `_` joins words that are read as one, `&` several English words that they mean: `tabela_de_medidas: size & guide`.
   */
  abroad?: readonly string[]
}

export const section = (spec: Omit<Section, 'kind'>): Section => ({ kind: 'section', ...spec })
