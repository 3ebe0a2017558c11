/** A section of the API: the default export of `section.ts` in its folder names and describes it. */

export interface Section {
  readonly kind: 'section'
  title: string
  description: string
  /** Its position among the sections. */
  position: number
  /** Operation ids in the order of the list; others follow. */
  order: readonly string[]
  /** Merchants' words for its things: assistants find its operations by these words. */
  words?: SectionWords
}

interface SectionWords {
  /** Each line: English synonyms, in any section. */
  synonyms?: readonly string[]
  /** Synonyms in this section only, since they mean something else in others: a label may be a tag. */
  sectionSynonyms?: readonly string[]
  /**
   * Portuguese and Spanish words without accents before their possible English meanings: `cor color: colour`. `_`
   * joins words that are read as one, `&` several English words of one meaning: `tabela_de_medidas: size & guide`.
   */
  translations?: readonly string[]
}

export const section = (spec: Omit<Section, 'kind'>): Section => ({ kind: 'section', ...spec })
