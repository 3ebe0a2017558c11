/** What a reply must be, exactly, to opt its sender out (rule 5). */
const stopWords = new Set([
  'stop',
  'stopall',
  'unsubscribe',
  'sair',
  'parar',
  'pare',
  'descadastrar',
  'baja',
  'salir',
])

/** Without accents, case, and spaces and punctuation around it. */
export function isStopWord(text: string): boolean {
  const plain = text
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()
  return stopWords.has(plain.replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, ''))
}
