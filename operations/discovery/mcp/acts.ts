/** What somebody wants done, by the verb: of two operations about the same thing the one that does it is meant. */
import { cut } from './endings.ts'
import { smallWords } from './translations.ts'
import { stem } from './words.ts'

export type Act = 'read' | 'do' | 'write' | 'create' | 'change' | 'delete' | 'stop' | 'start'
type Language = 'english' | 'abroad'

/** Verbs and what stands for one; at `…` up to six words may stand. `write` has those that say little, `do` the others. */
const english: Record<Act, string> = {
  read: 'see, show, view, look up, look at, find, tell me, count, browse, watch, search, read',
  do:
    'sell, offer, send, text, tell, remind, ask, answer, reply, respond, thank, message, label, publish, upload, import, copy, ' +
    'duplicate, schedule, approve, accept, reject, refuse, sync, hand, pass, close, pin, assign, charge, try, test, run, download, export',
  write: 'make, put, give, let, set, place, write, save, keep, get, take, mark, leave',
  create: 'create, add, build, set up, new, invite, insert, open, register, make … new, put … up, throw … in',
  change:
    'change, edit, update, modify, rename, fix, correct, adjust, replace, rewrite, another, different, move … to, ' +
    'switch … to, turn … into, give … another, give … new name',
  delete:
    'delete, remove, erase, drop, clear, discard, get rid of, take … off, take … out, take … down, take … away, take … back, revoke, withdraw, ' +
    'throw … away, throw … out, kick … out, fire, wipe, scrap',
  stop:
    'stop, cancel, end, pause, halt, hold, quit, suspend, disable, deactivate, hide, turn … off, switch … off, shut … off, shut … down, ' +
    'put … off, call … off, give … up, disconnect, unlink, unpair, logout, opt … out, block, unsubscribe, ' +
    'no longer, dont want, dont … any more, dont … anymore, never … again, no more',
  start:
    'start, connect, link, pair, hook up, enable, activate, launch, resume, show, turn … on, switch … on',
}
const abroad: Record<Act, string> = {
  read:
    'ver, mostrar, mostrame, muestrame, exibir, consultar, olhar, mirar, procurar, buscar, encontrar, achar, ' +
    'saber, conocer, conhecer, revisar, conferir',
  do: 'vender, avisar, notificar, responder, contestar, enviar, mandar',
  write:
    'fazer, hacer, colocar, poner, dar, botar, deixar, dejar, permitir, definir, marcar, tornar, ' +
    'guardar, salvar',
  create:
    'criar, crear, adicionar, agregar, anadir, acrescentar, novo, nova, nuevo, nueva, montar, armar, construir, incluir, ' +
    'convidar, invitar, cadastrar, sumar, fazer … novo, fazer … nova, hacer … nuevo, hacer … nueva, abrir',
  change:
    'mudar, cambiar, alterar, editar, trocar, corrigir, corregir, atualizar, actualizar, modificar, renomear, renombrar, ' +
    'ajustar, arrumar, arreglar, outro, outra, otro, otra, dar … outro, poner … otro, pasar a, mudar para',
  delete:
    'apagar, excluir, deletar, remover, eliminar, borrar, tirar, quitar, sacar, limpar, limpiar, descartar, jogar fora, ' +
    'deshacerme, livrar, acabar com, suprimir',
  stop:
    'desligar, desconectar, desvincular, desativar, desactivar, apagar, parar, pausar, cancelar, terminar, encerrar, acabar, dejar de, deixar de, ' +
    'suspender, frenar, detener, interromper, interrumpir, ocultar, esconder, nunca mais, nunca mas, nao quero … mais, ' +
    'no quiero … mas, nao … mais, no … mas, ya no, que no salga, que no aparezca, que nao apareca, cortar',
  start:
    'ligar, conectar, vincular, parear, ativar, activar, habilitar, encender, prender, iniciar, comecar, empezar, lanzar, lancar, retomar, reanudar, mostrar',
}

type Phrase = { act: Act; parts: readonly string[]; gap: number }
const longestGap = 6

/** By the root of the first word. */
function phrasesOf(verbs: Record<Act, string>, rootOf: (word: string) => string): Map<string, Phrase[]> {
  const byFirst = new Map<string, Phrase[]>()
  for (const [act, lines] of Object.entries(verbs) as [Act, string][]) {
    for (const line of lines.split(', ')) {
      const words = line.split(' ')
      const parts = words.filter((word) => word !== '…').map(rootOf)
      const first = parts[0]!
      byFirst.set(first, [...(byFirst.get(first) ?? []), { act, parts, gap: words.indexOf('…') }])
    }
  }
  return byFirst
}
const phrases = { english: phrasesOf(english, stem), abroad: phrasesOf(abroad, cut) }

/** The places that a phrase takes from `at` on, or null. */
function placesOf({ parts, gap }: Phrase, roots: readonly string[], at: number): number[] | null {
  const places: number[] = []
  let next = at
  for (const [index, part] of parts.entries()) {
    if (index === gap) {
      const within = roots.slice(next, next + longestGap + 1).indexOf(part)
      if (within < 0) return null
      next += within
    } else if (roots[next] !== part) return null
    places.push(next)
    next++
  }
  return places
}

interface Asked {
  acts: Set<Act>
  /** Where its words stand. */
  places: readonly number[]
}

/** What the words at this place ask for; the longest phrases only, unless `every` of them counts. */
export function actsAt(
  words: readonly string[],
  at: number,
  language: Language,
  every = false,
): Asked | null {
  const roots = words.map(language === 'english' ? stem : cut)
  const found = (phrases[language].get(roots[at]!) ?? []).flatMap((phrase) => {
    const places = placesOf(phrase, roots, at)
    return places ? [{ act: phrase.act, places }] : []
  })
  if (found.length === 0) return null
  const longest = Math.max(...found.map(({ places }) => places.length))
  const kept = every ? found : found.filter(({ places }) => places.length === longest)
  return { acts: new Set(kept.map(({ act }) => act)), places: kept[0]!.places }
}

/** "A paused campaign", "está conectado": how it is, and not what is to be done. */
const states = { english: /.ed$/, abroad: /.[ai]d[oa]s?$/ }
/** After these stands what is done it to: "my message templates", "aprobar un cambio". */
const before = {
  english: new Set('a an the my our your this that these those of for with in from'.split(' ')),
  abroad: new Set(
    'o os as um uma el la los las un una meu minha mi mis seu sua su este esta de del da do das dos'.split(
      ' ',
    ),
  ),
}
/** "Another list" is a wish all the same. */
const wishes = new Set('new another different novo nova nuevo nueva outro outra otro otra'.split(' '))
/** "Vender", which no phrase has, is to be done all the same. */
const infinitive = /.[aei]r$/
const wanting = new Set(['quero', 'preciso', 'queria', 'quiero', 'necesito', 'quisiera'])

/** What is asked first decides: "delete the campaign that I made". */
export function firstActs(words: readonly string[], language: Language): Asked | null {
  for (const [at, word] of words.entries()) {
    const asked = isVerb(words, at, language) ? actsAt(words, at, language) : null
    // "Para" is for, and only seldom stops.
    if (asked && (asked.places.length > 1 || language === 'english' || !smallWords.has(word))) return asked
  }
  const first = words[wanting.has(words[0]!) ? 1 : 0] ?? ''
  return language === 'abroad' && infinitive.test(first) ? { acts: new Set(['do']), places: [] } : null
}

function isVerb(words: readonly string[], at: number, language: Language): boolean {
  const word = words[at]!
  if (wishes.has(word)) return true
  if (states[language].test(word)) return false
  return !before[language].has(words[at - 1] ?? '') || (language === 'abroad' && infinitive.test(word))
}

/** How much more or less an operation is meant that does the one where the other is asked for. */
const fit: Record<Act, Partial<Record<Act, number>>> = {
  read: { read: 1.3, start: 0.85, write: 0.8, create: 0.75, change: 0.75, delete: 0.65, stop: 0.75 },
  do: { read: 0.75, stop: 0.9, delete: 0.8 },
  write: { write: 1.2, create: 1.25, change: 1.1, start: 1.05, read: 0.7, delete: 0.65, stop: 0.9 },
  create: { create: 1.35, write: 1.15, start: 1, change: 0.95, read: 0.6, delete: 0.55, stop: 0.7 },
  change: { change: 1.35, write: 1, start: 0.9, stop: 0.8, create: 0.8, read: 0.6, delete: 0.6 },
  delete: { delete: 1.4, stop: 1, change: 0.75, write: 0.7, create: 0.55, start: 0.65, read: 0.55 },
  stop: { stop: 1.4, delete: 1.1, change: 0.95, write: 0.7, start: 0.65, create: 0.55, read: 0.55 },
  start: { start: 1.35, create: 1.05, write: 1, change: 1, stop: 0.65, delete: 0.55, read: 0.65 },
}
export function fitOf(asked: ReadonlySet<Act>, does: ReadonlySet<Act>): number {
  let best = 0
  for (const one of asked) for (const other of does) best = Math.max(best, fit[one][other] ?? 1)
  return best === 0 ? 1 : best
}
