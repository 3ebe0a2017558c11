/** A merchant's question, read: in which language, what is to be done, and about what. */
import { type Act, firstActs } from './acts.ts'
import { withoutEnclitic } from './endings.ts'
import type { Dictionary } from './translations.ts'
import { joinedOf, stem, stopWords } from './words.ts'

interface Unit {
  /** Of which one is meant. */
  stems: readonly string[]
  /** `act`: the verb. `side`: what can be asked of anything, "all" and "how many". */
  kind: 'word' | 'act' | 'side'
}

export interface Query {
  /** Empty where nothing tells. */
  acts: ReadonlySet<Act>
  units: readonly Unit[]
  /** It is about one that is there: "this list". */
  isOfOne: boolean
}

export function read(text: string, dictionary: Dictionary, isKnown: (word: string) => boolean): Query {
  const plain = withoutDenied(plainWords(text))
  const isEnglish = dictionary.isEnglish(plain, isKnown)
  const words = isEnglish
    ? plain
    : plain.map((word) => (dictionary.has(word) || isKnown(word) ? word : withoutEnclitic(word)))
  const asked = firstActs(words, isEnglish ? 'english' : 'abroad')
  const isQuestion = asksToRead(text, asked !== null)
  const acts: ReadonlySet<Act> = isQuestion ? new Set<Act>(['read']) : (asked?.acts ?? new Set())
  const places = new Set(isQuestion || asked?.acts.has('do') ? [] : asked?.places)
  const units = isEnglish
    ? [...words.entries()].filter(isTelling).map(([at, word]) => ({ stems: [stem(word)], at }))
    : dictionary.unitsOf(words)
  const once = new Map(
    units.map(({ stems, at }): [string, Unit] => [
      stems.join(' '),
      { stems, kind: kindOf(stems, places.has(at)) },
    ]),
  )
  return {
    acts,
    isOfOne: words.some((word) => pointing.has(word)),
    units: [...once.values(), ...(howItGoes.test(withoutAccents(text)) ? [results] : [])],
  }
}

/** "Turn it off without deleting it": what is not to be done is not asked for. */
const withoutDenied = (words: readonly string[]): string[] =>
  words.filter(
    (word, at) => !(denying.has(words[at - 1] ?? '') && /ing$|[aei]r(?:me|te|se|l[oae]s?)?$/.test(word)),
  )
const denying = new Set(['without', 'sem', 'sin'])

const sides = new Set(['all', 'howmany', 'who'])
const kindOf = (stems: readonly string[], isAct: boolean): Unit['kind'] =>
  isAct ? 'act' : stems.some((word) => sides.has(word)) ? 'side' : 'word'

/** "List the contact lists": the first is what is done. */
const isTelling = ([at, word]: [number, string]): boolean =>
  word.length > 1 && !stopWords.has(word) && (word !== 'list' || at > 0)

/** Stems of the words of a text in English that tell something; `orderId` is two. */
export const wordsOf = (text: string): string[] =>
  [...plainWords(text).entries()].filter(isTelling).map(([, word]) => stem(word))

/** Without accents; words that are read as one are one. */
export function plainWords(text: string): string[] {
  const words = text
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .normalize('NFD')
    .replace(/[\u0300-\u036f’']/g, '')
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '')
  const read: string[] = []
  for (let at = 0; at < words.length; at++) {
    const whole = joinedOf(words[at]!, words[at + 1])
    read.push(whole ?? words[at]!)
    if (whole !== undefined) at++
  }
  return read
}

const asksToRead = (text: string, asksToDo: boolean): boolean => {
  const plain = withoutAccents(text)
  return !asksHow.test(plain) && (questions.test(plain) || (!asksToDo && plain.endsWith('?')))
}

const withoutAccents = (text: string): string =>
  text
    .toLowerCase()
    .normalize('NFD')
    .replace(/[\u0300-\u036f¿¡]/g, '')
    .trim()

/** "How is the campaign doing": its figures are meant. */
const howItGoes =
  /^(?:how (?:well |good |is |are |was |were |did |does |do |has |have ).*\b(?:doing|going|do|go|gone|done|perform\w*|work\w*|convert\w*)|como (?:esta indo|estao indo|vai|vao|foi|foram|anda\w*|va|van|viene\w*|fue|fueron|le (?:va|fue|esta)|se sai\w*))\b/
const results: Unit = {
  stems: ['report', 'metric', 'statistics', 'result', 'perform', 'figur'].map(stem),
  kind: 'side',
}

const pointing = new Set(
  'this that these those este esta estes estas esse essa ese esa estos deste desta desse dessa neste nesta'.split(
    ' ',
  ),
)

/** As they begin in English, Portuguese and Spanish. */
const questions =
  /^(?:(?:please|hi|hello|and|tell me|i want to know|can you tell me|show me|quero saber|me diga|gostaria de saber|quiero saber|dime|decime|e|y)[ ,]+)*(?:(?:at|by|for|from|in|of|on|to|with|a|com|con|de|em|en|para|por) )?(?:who|whose|what|which|how|where|when|why|is|are|am|did|does|do|have|has|any|list|listar?|liste|quem|qual|quais|quant[oa]s?|onde|quando|como|por ?que|o que|que|a partir de|tem|ha|quien|quienes|cual|cuales|cuant[oa]s?|donde|cuando|desde|hay)\b/
/** To be told how something is done is to want it done. */
const asksHow =
  /^(?:how (?:do|can|could|should|would) (?:i|we)|how to|do i (?!have|still|get)|what do i do to|como (?:faco|fazer|posso|eu faco|se faz|hago|hacer|puedo|se hace|podemos))\b/
