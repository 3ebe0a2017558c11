import { withoutEnd, withoutStart } from '#runtime/values/ends'

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
  return stopWords.has(withoutEnd(withoutStart(plain, isNoWord), isNoWord))
}

const isNoWord = (sign: string): boolean => /[^\p{L}\p{N}]/u.test(sign)
