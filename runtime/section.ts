/** Declares a section of the API: the default export of `section.ts` in the section's folder. */

export interface Section {
  readonly kind: 'section'
  title: string
  description: string
  /** Its position among the sections. */
  position: number
  /** Operation ids in the order in which the documents list them; other operations follow. */
  order: readonly string[]
  /** Words of merchants for the section's subjects: assistants find its operations by these words. */
  words?: SectionWords
}

interface SectionWords {
  /** Lines of English words with the same meaning, valid in all sections. */
  synonyms?: readonly string[]
  /** Synonyms for this section only: a word such as `label` means something else in other sections. */
  sectionSynonyms?: readonly string[]
  /**
   * Lines of Portuguese and Spanish words without accents, a colon, and their possible English meanings: `cor color:
   * colour`. `_` joins the words of one expression; `&` joins English words that together are one meaning:
   * `tabela_de_medidas: size & guide`.
   */
  translations?: readonly string[]
}

export const section = (spec: Omit<Section, 'kind'>): Section => ({ kind: 'section', ...spec })
