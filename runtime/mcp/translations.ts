/**
 * Portuguese and Spanish words of merchants, by the English ones that operations are described in. A query in one of these
 * languages is looked for by their likes; English ones never come here.
 */
import { stem } from './words.ts'

/** Words of both languages, without accents, before the English ones that they mean. */
const lines = [
  // Who
  'cliente comprador consumidor pessoa persona gente contato contacto: customer',
  'equipe equipo funcionario empleado colega colaborador socio: team member',
  'usuario acesso acceso entrar: user member team',
  'dono dueno proprietario propietario: owner',
  'atendente agente vendedor: agent assign',
  'assinante suscriptor inscrito inscrever inscribir cadastrar cadastro registrado registrar: subscriber newsletter',
  'visitante: visitor',
  'loja lojas tienda: store',
  'empresa negocio conta cuenta: store account',
  // What is sold
  'produto producto artigo articulo item mercadoria: product',
  'catalogo: catalog',
  'estoque existencias inventario stock esgotado agotado esgotar agotar: stock',
  'voltar volta volver vuelta chegar llegar regresar disponivel disponible: back available stock',
  'avisar aviso avise alerta alertar: alert notification',
  'preco precio valor barato: price',
  'categoria colecao coleccion: category',
  'tamanho talla tamano medida: size',
  'foto imagem imagen figura: image',
  'video: video',
  // Orders and money
  'pedido encomenda orden: order',
  'comprar compra comprou compro compraram compraron: order buy',
  'venda vender vendeu venta vendi vendido faturamento faturar faturei faturou facturar facturacion receita ingreso ganhar ganhei ganar gane: sale revenue',
  'dinheiro dinero plata: money revenue',
  'carrinho carrito cesta sacola: cart',
  'abandonar abandonado esquecer esquecido olvidar olvidado deixar dejar largar: abandoned cart',
  'recuperar recuperado: recovered',
  'pagar pagamento pago cobrar cobranca cobro: pay payment',
  'cartao tarjeta: card',
  'fatura factura boleto recibo nota: invoice payment',
  'vencer vencido venceu vencio expirar expirado caducar caduco: expire card',
  'desconto descuento promocao promocion oferta: promotion discount',
  'cupom cupon codigo: coupon',
  'brinde regalo presente gratis gratuito: gift free',
  'kit conjunto combo juntos pacote paquete: bundle',
  'parcela parcelar parcelamento cuota vez vezes mensualidad: installment',
  'frete envio entrega enviar mandar despachar: send shipping',
  'metade leve lleve dois dos tres: quantity promotion',
  'atribuicao atribucion conversao conversion converter convertir: conversion',
  // Returns
  'trocar troca cambio devolver devolucao devolucion reembolso reembolsar estorno: exchange return request',
  'recusar rejeitar negar rechazar denegar recusado rechazado: reject',
  'aprovar aprobar aprovacao aprobacion: approve',
  'endereco direccion: address',
  // Messaging
  'mensagem mensaje texto escrever escribir: message',
  'whatsapp zap: whatsapp',
  'numero telefone telefono celular aparelho: phone number',
  'conectar ligar vincular emparelhar parear conexao conexion conectado: connect session',
  'desconectar desligar desvincular sair salir: disconnect',
  'modelo template plantilla: template',
  'banir banido bloquear bloqueado bloqueo risco riesgo saude salud: health',
  'botao boton bolha burbuja: button',
  'conversa conversacion chat bate papo: conversation',
  'responder resposta respuesta contestar: reply answer',
  'rapida rapido: quick',
  'nota anotar anotacao anotacion comentario observacao: note',
  'etiqueta tag rotulo: tag',
  'fechar cerrar encerrar resolver resolvido resuelto: close status',
  'esperar esperando aguardar pendente pendiente: waiting inbox',
  'atribuir asignar passar pasar transferir: assign',
  'fila bandeja caixa entrada: inbox',
  // Campaigns
  'campanha campana disparo disparar difusion difundir massa masivo: campaign',
  'agendar programar amanha manana: schedule',
  'pausar pausa parar parada deter detener: pause',
  'retomar reanudar continuar seguir: resume',
  'copiar copia duplicar repetir: duplicate',
  'lista publico audiencia: list',
  'importar subir carregar cargar planilha planilla excel hoja: import csv',
  'exportar baixar descargar descarga: export',
  'descadastrar desinscrever sair baja desuscribir cancelaron optout receber recibir: opt out',
  'sincronizar sincronia: sync',
  // Automations
  'automacao automatizacion automatico automatica fluxo flujo automatizar: automation',
  'aniversario cumpleanos: birthday automation',
  'lembrar lembrete lembre recordar recordatorio: remind automation cart',
  'testar teste probar prueba: test',
  'falhar falha falhou erro fallar fallo error problema: failure',
  // Reviews, content
  'avaliacao avaliar avaliacoes resena valoracion estrela estrella opiniao opinion: review',
  'depoimento testimonio: testimonial',
  'moderar publicar ocultar esconder: moderate publish',
  'faixa barra tarja banner: bar',
  'contagem contador cronometro cuenta regressiva regresiva: countdown',
  'janela popup roleta ruleta emergente: popup roulette wheel newsletter',
  'formulario: form',
  'pergunta pregunta duvida duda: question contact form',
  'selo sello adesivo etiquetas pegatina: badge sticker',
  'favorito desejo deseo desejos deseos: wishlist',
  'look visual conjunto combinacao combinacion: look',
  'guia tabela tabla: guide',
  'vendo viendo olhando mirando ver veem: view people fomo',
  // Plan and figures
  'plano plan assinatura suscripcion mensalidade: plan subscription',
  'limite cota uso usar restante restar restam sobrar sobram quedan queda consumo: usage left',
  'estatistica estadistica metrica relatorio informe reporte resultado desempenho rendimiento numero: statistics report',
  'resumo resumen painel panel: dashboard overview',
  'hoje hoy: orders today',
  'ontem ayer semana: dashboard',
  'mes: month',
  'pedir pediu pidio solicitar solicitacao solicitud: request',
  // Doing
  'criar crear novo nueva nuevo fazer hacer montar: create',
  'mudar cambiar alterar modificar editar atualizar actualizar corrigir corregir: update change',
  'apagar excluir deletar remover tirar quitar eliminar borrar: delete remove',
  'cancelar cancelamento cancelacion encerrar: cancel',
  'adicionar acrescentar anadir agregar colocar poner incluir: add create',
  'convidar convite invitar invitacion: invite',
  'configurar configuracao configuracion ajuste ajustar: settings',
  'ativar activar ligar: activate',
  'desativar desactivar apagado: deactivate',
  'mostrar exibir: show',
  'visto lido leido leida ler leer: read',
  'nivel camada classificacao ouro oro prata plata: tier',
  'fuso huso horario: timezone',
  'comecar empezar iniciar inicio: onboarding',
  'sino notificacao notificacion aviso: notification',
]

/** Of these languages alone: one of them tells which language a query is in. */
const smallWords = new Set(
  (
    'o os um uma uns umas de da das dos em na nas nos pro pra para por pelo pela com sem que quem qual quais quanto quanta ' +
    'quantos quantas onde quando como porque meu meus minha minhas seu sua seus suas ele ela eles elas esta este isso essa ' +
    'esse foi sao nao mais muito todo toda todos todas ja ate e ou se eu voce quero quer querem preciso tem ter alguma alguem coisa ' +
    'el la los las un una unos unas del al en con sin quien cual cuales cuanto cuanta cuantos cuantas donde cuando porque ' +
    'mi mis su sus esta este eso esa ese fue son no mas mucho todo todos ya hasta y si yo usted quiero quiere quieren algo alguien necesito tiene tengo ' +
    'hay estan estoy les nos lo le ha han hice fizeram'
  ).split(' '),
)
/** English has them as well. */
const sharedWords = new Set([
  'a',
  'as',
  'do',
  'no',
  'me',
  'plan',
  'video',
  'chat',
  'son',
  'se',
  'eu',
  'o',
  'e',
  'y',
  'on',
  'time',
])

/** What is cut off, so that "campanhas" and "campanha", "enviei" and "enviar" are one word. */
const endings =
  /(?:mente|coes|cao|ciones|cion|amentos?|amientos?|imientos?|ando|endo|iendo|indo|ad[oa]s?|id[oa]s?|aram|eram|iram|aron|ieron|ar|er|ir|ei|ou|eu|iu|am|em|an|en|as|es|os|is|a|e|o|s|i)$/

const cut = (word: string): string => {
  const left = word.replace(endings, '')
  return left.length >= 3 ? left : word
}

const meanings = new Map<string, string[]>()
for (const each of lines) {
  const [words, english] = each.split(': ') as [string, string]
  for (const word of words.split(' ')) {
    const known = meanings.get(cut(word)) ?? []
    meanings.set(cut(word), [...new Set([...known, ...english.split(' ').map(stem)])])
  }
}

export interface Translated {
  /** For each word that is known here, the stems of English words that it may mean. */
  likes: string[][]
  /** The words themselves, for names and for what is called alike everywhere. */
  kept: string[]
}

/**
 * What words without accents mean in English; null where they are English: none of them is a small word of the other
 * languages, and one that means something here is known to English, too.
 */
export function translated(
  words: readonly string[],
  isEnglish: (word: string) => boolean,
): Translated | null {
  const isSmall = (word: string): boolean => smallWords.has(word) && !sharedWords.has(word)
  const isForeign = (word: string): boolean => meanings.has(cut(word)) && !isEnglish(word)
  if (!words.some(isSmall) && !words.some(isForeign)) return null
  const kept = words.filter((word) => word.length > 2 && !smallWords.has(word))
  return { likes: kept.flatMap((word) => (meanings.has(cut(word)) ? [meanings.get(cut(word))!] : [])), kept }
}
