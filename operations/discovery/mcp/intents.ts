/**
 * Finds the intent of a query by its verb. Operations with that intent rank above other operations about the same
 * subject.
 */
import { normalize, stemEnglish, stemForeign } from './terms.ts'

export type Intent = 'read' | 'do' | 'write' | 'create' | 'change' | 'delete' | 'stop' | 'start'

/** `…` matches up to six words. `write` lists generic verbs, `do` lists verbs that fit no other intent. */
const english: Record<Intent, string> = {
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
    'put … off, call … off, give … up, disconnect, unlink, unpair, logout, log out, opt … out, block, unsubscribe, ' +
    'no longer, dont want, dont … any more, dont … anymore, never … again, no more',
  start:
    'start, connect, link, pair, hook up, enable, activate, launch, resume, show, turn … on, switch … on',
}
const foreign: Record<Intent, string> = {
  read:
    'ver, mostrar, mostrame, muestrame, exibir, consultar, olhar, mirar, procurar, buscar, encontrar, achar, ' +
    'saber, conocer, conhecer, revisar, conferir',
  do: 'vender, avisar, notificar, responder, contestar, enviar, mandar',
  write:
    'fazer, hacer, colocar, poner, dar, botar, deixar, dejar, permitir, definir, marcar, tornar, guardar, salvar',
  create:
    'criar, crear, adicionar, agregar, anadir, acrescentar, novo, nova, nuevo, nueva, montar, armar, construir, incluir, ' +
    'convidar, invitar, cadastrar, sumar, fazer … novo, fazer … nova, hacer … nuevo, hacer … nueva, abrir',
  change:
    'mudar, cambiar, alterar, editar, trocar, corrigir, corregir, atualizar, actualizar, modificar, renomear, renombrar, ' +
    'ajustar, arrumar, arreglar, outro, outra, otro, otra, dar … outro, poner … otro, pasar a',
  delete:
    'apagar, excluir, deletar, remover, eliminar, borrar, tirar, quitar, sacar, limpar, limpiar, descartar, jogar fora, ' +
    'deshacerme, livrar, acabar com, suprimir',
  stop:
    'desligar, desconectar, desvincular, desativar, desactivar, apagar, parar, pausar, cancelar, terminar, encerrar, acabar, dejar de, deixar de, ' +
    'suspender, frenar, detener, interromper, interrumpir, ocultar, esconder, nunca mais, nunca mas, nao quero … mais, ' +
    'no quiero … mas, nao … mais, no … mas, ya no, que no salga, que no aparezca, que nao apareca, cortar',
  start:
    'ligar, conectar, vincular, ativar, activar, habilitar, encender, prender, iniciar, comecar, empezar, lanzar, lancar, retomar, reanudar, mostrar',
}

interface QueryIntent {
  intents: ReadonlySet<Intent>
  /** Index terms of the query's verb. */
  verb: ReadonlySet<string>
}

/** Finds the first phrase in a text. If two phrases begin at the same word, the longer one wins. */
function buildPhraseFinder(phrases: Record<Intent, string>, stemWord: (word: string) => string) {
  const stem = (text: string) => text.split(' ').map(stemWord).join(' ')
  const phraseIntents = new Map<string, Set<Intent>>()
  for (const [intent, line] of Object.entries(phrases) as [Intent, string][]) {
    for (const phrase of line.split(', ').map(stem)) {
      phraseIntents.set(phrase, (phraseIntents.get(phrase) ?? new Set()).add(intent))
    }
  }
  const longestFirst = [...phraseIntents].sort(([a], [b]) => b.split(' ').length - a.split(' ').length)
  const groups = longestFirst.map(([phrase]) => `(${phrase.replace('… ', '(?:\\S+ ){0,6}?')})`)
  const pattern = new RegExp(`\\b(?:${groups.join('|')})\\b`)
  return (text: string): (QueryIntent & { at: number }) | null => {
    const match = pattern.exec(stem(text))
    if (!match) return null
    const group = match.slice(1).findIndex((found) => found !== undefined)
    return { intents: longestFirst[group]![1], verb: new Set(match[0].split(' ')), at: match.index }
  }
}
const findEnglish = buildPhraseFinder(english, stemEnglish)
const findForeign = buildPhraseFinder(foreign, stemForeign)
const none: ReadonlySet<Intent> = new Set()

/** Returns the intents of the verb that an English text begins with. */
export function findLeadingIntents(text: string): ReadonlySet<Intent> {
  const found = findEnglish(normalize(text))
  return found?.at === 0 ? found.intents : none
}

/** Not verbs: participles, which describe a state ("está conectado"), and `para`, which usually means "for". */
const foreignNonVerbs = /\b(?:para|[a-z]+[ai]d[oa]s?)\b/g
/** Not verbs: nouns that look like a verb ("my message"), and participles. */
const englishNonVerbs = /\b(?:(?:the|my|our|your|this|that) [a-z]+|[a-z]+ed)\b/g

/** Returns the intent of a query by its first verb, for example "delete" in "delete the campaign that I made". */
export function parseIntent(query: string): QueryIntent {
  const text = normalize(query)
  const wish =
    findEnglish(text.replace(englishNonVerbs, '_')) ?? findForeign(text.replace(foreignNonVerbs, '_'))
  const isQuestion = questions.test(text) || (!wish && query.trim().endsWith('?'))
  const isRead = isQuestion && !asksHow.test(text)
  if (isRead || !wish) return { intents: isRead ? new Set(['read']) : none, verb: new Set() }
  return wish
}

/** How questions begin in English, Portuguese and Spanish. */
const questions =
  /^(?:(?:please|hi|hello|and|tell me|i want to know|can you tell me|show me|quero saber|me diga|gostaria de saber|quiero saber|dime|decime|e|y) )*(?:(?:at|by|for|from|in|of|on|to|with|a|com|con|de|em|en|para|por) )?(?:who|whose|what|which|how|where|when|why|is|are|am|did|does|do|have|has|any|list|listar?|liste|quem|qual|quais|quant[oa]s?|onde|quando|como|por ?que|o que|que|a partir de|tem|ha|quien|quienes|cual|cuales|cuant[oa]s?|donde|cuando|desde|hay)\b/
/** "How do I delete a list" is a request to delete, not a question. */
const asksHow =
  /^(?:how (?:do|can|could|should|would) (?:i|we)|how to|do i (?!have|still|get)|what do i do to|como (?:faco|fazer|posso|eu faco|se faz|hago|hacer|puedo|se hace|podemos))\b/

/** Score factors by the intent of the query, then by the intent of the operation; 1 if not listed. */
const intentFactors: Record<Intent, Partial<Record<Intent, number>>> = {
  read: { read: 1.52, start: 0.77, write: 0.7, create: 0.63, change: 0.63, delete: 0.5, stop: 0.63 },
  do: { read: 0.63, stop: 0.84, delete: 0.7 },
  write: { write: 1.34, create: 1.43, change: 1.16, start: 1.08, read: 0.57, delete: 0.5, stop: 0.84 },
  create: { create: 1.62, write: 1.25, start: 1, change: 0.92, read: 0.44, delete: 0.38, stop: 0.57 },
  change: { change: 1.62, write: 1, start: 0.84, stop: 0.7, create: 0.7, read: 0.44, delete: 0.44 },
  delete: { delete: 1.71, stop: 1, change: 0.63, write: 0.57, create: 0.38, start: 0.5, read: 0.38 },
  stop: { stop: 1.71, delete: 1.16, change: 0.92, write: 0.57, start: 0.5, create: 0.38, read: 0.38 },
  start: { start: 1.62, create: 1.08, write: 1, change: 1, stop: 0.5, delete: 0.38, read: 0.5 },
}

/** Factor for reads if the query has no verb, such as "my templates": such a query usually asks to read. */
const readWithoutVerb = 1.15

export function computeIntentFactor(requested: ReadonlySet<Intent>, offered: ReadonlySet<Intent>): number {
  if (requested.size === 0) return offered.has('read') ? readWithoutVerb : 1
  const factors = [...requested].flatMap((one) => [...offered].map((other) => intentFactors[one][other] ?? 1))
  return factors.length === 0 ? 1 : Math.max(...factors)
}
