/** The assistant's texts, in three languages. */
import { foldText } from '#runtime/values/fold'

export type Language = 'pt' | 'es' | 'en'

export const toLanguage = (locale: string): Language =>
  locale.startsWith('pt') ? 'pt' : locale.startsWith('es') ? 'es' : 'en'

const spanishPrefixes = /^\+(34|5[1-46-8]|59[1358]|50[2-7])/
/** The language of a phone that belongs to no store, by its country (E.164). */
export const detectPhoneLanguage = (phone: string): Language =>
  /^\+(55|351)/.test(phone) ? 'pt' : spanishPrefixes.test(phone) ? 'es' : 'en'

interface Texts {
  paired(store: string): string
  pairedElsewhere: string
  pairedAlready: string
  invalid: string
  tooMany: string
  notInPlan: string
  unpaired: string
  howToPair: string
  limit(limit: number): string
  notThere: string
  sales(period: string, orders: number, revenue: string, sent: number): string
  orders(period: string, totals: string): string
  noOrders(period: string): string
  inbox(open: number, unread: number, unassigned: number): string
  campaigns(total: number, lines: string): string
  noCampaigns: string
  usage(used: number, limit: number, remaining: number): string
  periods: Record<Period, string>
  help: string
}

export type Period = 'today' | 'yesterday' | '7' | '30'

export const texts: Record<Language, Texts> = {
  en: {
    paired: (store) => `This phone is paired with ${store}. Write "help" to see what I know.`,
    pairedElsewhere: 'This phone is paired with another store: write "unpair" first.',
    pairedAlready: 'This phone is paired already. Write "help" to see what I know.',
    invalid: 'This code is not valid. Make a new one in your dashboard.',
    tooMany: 'This store has as many paired phones as it may have.',
    notInPlan: 'The assistant is not in the plan of your store.',
    unpaired: 'This phone is no longer paired.',
    howToPair: 'Hello! To pair this phone, make a code in your dashboard and write it here.',
    limit: (limit) => `Your store has asked ${limit} times in this cycle, which is the most.`,
    notThere: 'I cannot look this up now.',
    sales: (period, orders, revenue, sent) =>
      `Sales by messages, ${period}: ${orders} orders, ${revenue}. Messages sent: ${sent}.`,
    orders: (period, totals) => `Orders, ${period}: ${totals}.`,
    noOrders: (period) => `No orders, ${period}.`,
    inbox: (open, unread, unassigned) =>
      `Inbox: ${open} open conversations, ${unread} unread, ${unassigned} without an agent.`,
    campaigns: (total, lines) => `Campaigns: ${total}. The latest:\n${lines}`,
    noCampaigns: 'There are no campaigns yet.',
    usage: (used, limit, remaining) => `Messages of this cycle: ${used} of ${limit} used, ${remaining} left.`,
    periods: { today: 'today', yesterday: 'yesterday', '7': 'last 7 days', '30': 'last 30 days' },
    help: 'Write: sales (today, yesterday, 7, 30), orders (the same), inbox, campaigns, usage, unpair.',
  },
  pt: {
    paired: (store) => `Este telefone está conectado à loja ${store}. Escreva "help" para ver o que eu sei.`,
    pairedElsewhere: 'Este telefone está conectado a outra loja: escreva "desconectar" primeiro.',
    pairedAlready: 'Este telefone já está conectado. Escreva "help" para ver o que eu sei.',
    invalid: 'Este código não é válido. Gere outro no seu painel.',
    tooMany: 'Esta loja já tem o máximo de telefones conectados.',
    notInPlan: 'O assistente não faz parte do plano da sua loja.',
    unpaired: 'Este telefone não está mais conectado.',
    howToPair: 'Olá! Para conectar este telefone, gere um código no seu painel e escreva-o aqui.',
    limit: (limit) => `Sua loja já fez ${limit} perguntas neste ciclo, que é o máximo.`,
    notThere: 'Não consigo dizer isso agora.',
    sales: (period, orders, revenue, sent) =>
      `Vendas por mensagens, ${period}: ${orders} pedidos, ${revenue}. Mensagens enviadas: ${sent}.`,
    orders: (period, totals) => `Pedidos, ${period}: ${totals}.`,
    noOrders: (period) => `Nenhum pedido, ${period}.`,
    inbox: (open, unread, unassigned) =>
      `Caixa de entrada: ${open} conversas abertas, ${unread} não lidas, ${unassigned} sem atendente.`,
    campaigns: (total, lines) => `Campanhas: ${total}. As últimas:\n${lines}`,
    noCampaigns: 'Ainda não há campanhas.',
    usage: (used, limit, remaining) =>
      `Mensagens deste ciclo: ${used} de ${limit} usadas, restam ${remaining}.`,
    periods: { today: 'hoje', yesterday: 'ontem', '7': 'últimos 7 dias', '30': 'últimos 30 dias' },
    help: 'Escreva: vendas (hoje, ontem, 7, 30), pedidos (o mesmo), inbox, campanhas, uso, desconectar.',
  },
  es: {
    paired: (store) => `Este teléfono está conectado a ${store}. Escriba "help" para ver lo que sé.`,
    pairedElsewhere: 'Este teléfono está conectado a otra tienda: escriba "desvincular" primero.',
    pairedAlready: 'Este teléfono ya está conectado. Escriba "help" para ver lo que sé.',
    invalid: 'Este código no es válido. Cree otro en su panel.',
    tooMany: 'Esta tienda ya tiene el máximo de teléfonos conectados.',
    notInPlan: 'El asistente no está en el plan de su tienda.',
    unpaired: 'Este teléfono ya no está conectado.',
    howToPair: '¡Hola! Para conectar este teléfono, cree un código en su panel y escríbalo aquí.',
    limit: (limit) => `Su tienda ya hizo ${limit} preguntas en este ciclo, que es el máximo.`,
    notThere: 'No puedo decirlo ahora.',
    sales: (period, orders, revenue, sent) =>
      `Ventas por mensajes, ${period}: ${orders} pedidos, ${revenue}. Mensajes enviados: ${sent}.`,
    orders: (period, totals) => `Pedidos, ${period}: ${totals}.`,
    noOrders: (period) => `Ningún pedido, ${period}.`,
    inbox: (open, unread, unassigned) =>
      `Bandeja: ${open} conversaciones abiertas, ${unread} sin leer, ${unassigned} sin agente.`,
    campaigns: (total, lines) => `Campañas: ${total}. Las últimas:\n${lines}`,
    noCampaigns: 'Todavía no hay campañas.',
    usage: (used, limit, remaining) =>
      `Mensajes de este ciclo: ${used} de ${limit} usados, quedan ${remaining}.`,
    periods: { today: 'hoy', yesterday: 'ayer', '7': 'últimos 7 días', '30': 'últimos 30 días' },
    help: 'Escriba: ventas (hoy, ayer, 7, 30), pedidos (lo mismo), inbox, campañas, uso, desvincular.',
  },
}

export type Topic = 'sales' | 'orders' | 'inbox' | 'campaigns' | 'usage' | 'help' | 'unpair'

const topics: Record<string, Topic> = {
  sales: 'sales',
  vendas: 'sales',
  ventas: 'sales',
  orders: 'orders',
  pedidos: 'orders',
  inbox: 'inbox',
  campaigns: 'campaigns',
  campanhas: 'campaigns',
  campanas: 'campaigns',
  usage: 'usage',
  uso: 'usage',
  help: 'help',
  ajuda: 'help',
  ayuda: 'help',
  unpair: 'unpair',
  desconectar: 'unpair',
  desvincular: 'unpair',
}
const periods: Record<string, Period> = {
  today: 'today',
  hoje: 'today',
  hoy: 'today',
  yesterday: 'yesterday',
  ontem: 'yesterday',
  ayer: 'yesterday',
  '7': '7',
  '30': '30',
}

/** Parses a request by its first known word; a text without a known word is `help`. The default period is today. */
export function parseRequest(text: string): { topic: Topic; period: Period } {
  const words = foldText(text).split(/[^a-z0-9]+/)
  const at = words.findIndex((word) => Object.hasOwn(topics, word))
  const period = words.slice(at + 1).find((word) => Object.hasOwn(periods, word))
  return {
    topic: at < 0 ? 'help' : topics[words[at]!]!,
    period: period === undefined ? 'today' : periods[period]!,
  }
}
