/**
 * Portuguese and Spanish words by the English ones that operations are described in: those of every trade stand here,
 * those of a section in its `section.ts`. A query in one of these languages is looked for by what its words mean.
 */
import { cut } from './endings.ts'
import { stem, stopWords } from './words.ts'

/**
 * Words of both languages, without accents, before the English ones that they may mean; `_` joins words that are read as
 * one (`#` is a number), and `&` what they mean together.
 */
const everywhere: readonly string[] = [
  'agendar programar reagendar marcar_hora marcar_data amanha manana: schedule',
  'adiar aplazar: schedule',
  'pausar pausa parar parada deter detener frenar suspender interromper interrumpir: pause stop',
  'retomar reanudar continuar seguir reativar reactivar: resume',
  'copiar copia duplicar repetir clonar: duplicate',
  'importar subir carregar cargar planilha planilla excel hoja hoja_de_calculo: import csv',
  'arquivo archivo fichero: file',
  'exportar baixar descargar descarga bajar: export',
  'sincronizar sincronia: sync',
  'testar teste probar prueba experimentar ensaio: test',
  'falhar falha falhou erro fallar fallo error problema falla: failure error',
  'moderar publicar: moderate publish',
  'conectar ligar vincular emparelhar parear emparejar conexao conexion conectado enlazar: connect pair session',
  'desconectar desligar desvincular: disconnect',
  'sair salir: disconnect sent out',
  'atribuir asignar passar pasar transferir encaminhar derivar entregar: assign',
  'recusar rejeitar negar rechazar denegar recusado rechazado negado: reject',
  'dizer_nao dizer_que_nao decir_no decir_que_no: reject',
  'dizer_sim dizer_que_sim decir_si decir_que_si: approve',
  'aprovar aprobar aprovacao aprobacion aceitar aceptar autorizar: approve',
  'criar crear montar armar: create',
  'novo nova nuevo nueva: new',
  'novedad novidade: news notification',
  'de_novo de_nuevo otra_vez outra_vez: again',
  'por_que: why failure',
  'todo toda todos todas: all',
  'quantos quantas cuantos cuantas quanto cuanto cuanta quanta: howmany',
  'quem quien quienes: who',
  'outro outra otro otra: another different',
  'mudar cambiar alterar modificar editar atualizar actualizar corrigir corregir ajustar: change update',
  'nome nombre renomear renombrar: name rename',
  'apagar excluir deletar remover tirar quitar eliminar borrar: delete remove',
  'cancelar cancelamento cancelacion encerrar anular: cancel',
  'adicionar acrescentar anadir agregar incluir sumar: add create',
  'convidar convite invitar invitacion convidado invitado: invite invitation',
  'configurar configuracao configuracion ajuste: settings',
  'ativar activar habilitar encender: activate enable',
  'desativar desactivar deshabilitar: deactivate off',
  'mostrar exibir aparecer: show',
  'visto lido leido leida ler leer: read seen',
  'nao_lida no_leido nao_lido no_leida no_lo_lei no_la_lei nao_li sin_leer sem_ler: unread',
  'fixar fijar: pin',
  'endereco direccion: address',
  'saude salud: health',
  'estado situacao situacion: status',
  'uso usar consumo gasto gastei: usage',
  'limite cota: limit',
  'restante restar restam sobrar sobram quedan queda falta faltam faltan: left remaining',
  'estatistica estadistica metrica relatorio informe reporte resultado desempenho rendimiento numero: statistics report',
  'resumo resumen: overview summary',
  'vencer vencido venceu vencio expirar expirado caducar caduco: expire',
  'mes mensal mensual: month',
  'media promedio: average',
  'link enlace: link',
  'foto imagem imagen figura desenho dibujo: image picture',
  'ordem_dos ordem_das orden_de: order reorder',
  'pedir pediu pidio solicitar solicitacao solicitud: request ask',
  'buscar procurar encontrar achar: find search',
  'esperar esperando aguardar pendente pendiente espera: waiting pending',
  'chegar llegar: arrive came',
  'volta vuelta voltar volver regresar: back',
  'categoria: category',
  'campo campos: field',
  'texto textos: text',
  'email mail correo: email',
  'regra regla: rule',
  'de_uma_vez de_una_vez em_massa en_masa em_lote en_lote: bulk',
]

/** Of these languages alone: one of them tells which language a query is in. */
export const smallWords = new Set(
  // Portuguese
  (
    'o os um uma uns umas de da das dos em na nas nos num numa pro pra para por pelo pela pelos pelas com sem que qual quais ' +
    'onde quando como porque meu meus minha minhas seu sua seus suas nosso nossa nossos nossas ele ela ' +
    'eles elas esta este isso isto essa esse deste desta desse dessa neste nesta foi sao nao mais muito muita ja ate e ou ' +
    'se eu voce voces quero quer querem preciso tem ter temos tenho alguma algum alguem coisa lhe mim gente vai vou estou estao ' +
    'estava posso pode podem queria gostaria ainda tambem agora entao passado passada ano proprio propria vez ' +
    // Spanish
    'el la los las un una unos unas del al en con sin cual cuales donde cuando porque ' +
    'mi mis su sus nuestro nuestra nuestros nuestras esta este eso esa ese estos estas fue son no mas mucho mucha ya ' +
    'hasta y si yo usted ustedes quiero quiere quieren algo alguien necesito tiene tengo tenemos hay estan estoy les nos lo le ha han ' +
    'puedo puede puedes pueden quisiera hago faco favor ahora tambien mismo misma pasado pasada vez desde cada hice fizeram'
  ).split(' '),
)
/** English has them as well. */
const sharedWords = new Set(
  'a as do no me plan video chat son se eu o e y on time mail ha can pin pro site look'.split(' '),
)

export interface Meant {
  /** Stems of which one is meant. */
  stems: readonly string[]
  /** Where its first word stands. */
  at: number
}

/** For each of the words that it stands for, what it may mean. */
type Meaning = readonly (readonly string[])[]

/** What words mean, made of the lines of all sections and of those that every trade has. */
export class Dictionary {
  readonly #roots = new Map<string, Meaning>()
  /** By whole words, which come first: `pedido` is an order, whatever `pedir` means. */
  readonly #words = new Map<string, Meaning>()
  /** How many words at most are read as one that begin with a root. */
  readonly #longest = new Map<string, number>()

  constructor(lines: readonly string[]) {
    for (const line of [...everywhere, ...lines]) {
      const [words, english] = line.split(': ') as [string, string]
      const meaning = english.split(' & ').map((each) => each.split(' ').map(stem))
      for (const word of words.split(' ')) {
        const roots = word.split('_').map(rootOf)
        const [first] = roots as [string]
        this.#longest.set(first, Math.max(roots.length, this.#longest.get(first) ?? 1))
        add(this.#roots, roots.join('_'), meaning)
        if (roots.length === 1) add(this.#words, word, meaning)
      }
    }
  }

  has(word: string): boolean {
    return this.#meaningOf(word) !== undefined
  }

  #meaningOf(word: string): Meaning | undefined {
    const words = this.#words
    return words.get(word) ?? words.get(word.replace(/s$/, '')) ?? this.#roots.get(rootOf(word))
  }

  /** Whether words without accents are English: its small words outnumber those of the others, or all are known to it. */
  isEnglish(words: readonly string[], isKnown: (word: string) => boolean): boolean {
    const own = words.filter((word) => smallWords.has(word) && !sharedWords.has(word)).length
    const english = words.filter((word) => stopWords.has(word) && !sharedWords.has(word)).length
    return own === english
      ? own === 0 && words.every((word) => isKnown(word) || !this.has(word))
      : own < english
  }

  /** Words, and several of them that are read as one, by what they mean; what is unknown is a name, or alike everywhere. */
  unitsOf(words: readonly string[]): Meant[] {
    const roots = words.map(rootOf)
    const units: Meant[] = []
    for (let at = 0; at < words.length; at++) {
      const word = words[at]!
      const several = this.#severalAt(roots, at)
      if (several) {
        for (const stems of several.meaning) units.push({ stems, at })
        at += several.length - 1
      } else if (word.length > 1 && !smallWords.has(word)) {
        const [first = [], ...others] = this.#meaningOf(word) ?? []
        units.push({ stems: [...first, stem(word)], at }, ...others.map((stems) => ({ stems, at })))
      }
    }
    return units
  }

  #severalAt(roots: readonly string[], at: number): { meaning: Meaning; length: number } | null {
    for (let length = this.#longest.get(roots[at]!) ?? 1; length > 1; length--) {
      const meaning = this.#roots.get(roots.slice(at, at + length).join('_'))
      if (meaning && at + length <= roots.length) return { meaning, length }
    }
    return null
  }
}

/** `#` is any number. */
const rootOf = (word: string): string => (/^\d+$/.test(word) ? '#' : cut(word))

/** To what a word means by other lines. */
function add(meanings: Map<string, Meaning>, key: string, meaning: Meaning): void {
  const known = meanings.get(key) ?? []
  const places = Math.max(known.length, meaning.length)
  const both = Array.from({ length: places }, (_, at) => [
    ...new Set([...(known[at] ?? []), ...(meaning[at] ?? [])]),
  ])
  meanings.set(key, both)
}
