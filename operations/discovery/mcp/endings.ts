/** Portuguese and Spanish words without what is bent: "campanhas", "enviei", "mandarle". */

/** So that "campanhas" and "campanha", "enviei" and "enviar" are one word. */
const endings =
  /(?:mente|coes|cao|ciones|cion|amentos?|amientos?|imientos?|ando|endo|iendo|indo|ad[oa]s?|id[oa]s?|aram|eram|iram|aron|ieron|ar|er|ir|ei|ou|eu|iu|am|em|an|en|as|es|os|is|a|e|o|s|i)$/

/** "Conversões" are no "conversas". */
const apart = /^convers(?:ao|oes|ion|iones)$/

export const cut = (word: string): string => {
  if (apart.test(word)) return 'conversao'
  const left = word.replace(endings, '')
  return left.length >= 3 ? left : word
}

/** "mandarle" is to send to somebody, "muestrame" is show me. */
const enclitics = /(?<=[aei]r|[ae]|ndo)(?:me|te|se|nos|l[eoa]s?|[mtsn]el[oa]s?)$/
export const withoutEnclitic = (word: string): string => {
  const left = word.replace(enclitics, '')
  return left.length >= 3 ? left : word
}
