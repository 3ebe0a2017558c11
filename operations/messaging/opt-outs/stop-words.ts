import { foldText } from '#runtime/values/fold'
import { trimEndWhile, trimStartWhile } from '#runtime/values/trim'

/** A reply with exactly one of these words opts its sender out (rule 5). */
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

/** Ignores accents, case, and surrounding spaces and punctuation. */
export function isStopWord(text: string): boolean {
  return stopWords.has(trimEndWhile(trimStartWhile(foldText(text), isNoWord), isNoWord))
}

const isNoWord = (sign: string): boolean => /[^\p{L}\p{N}]/u.test(sign)
