/**
 * Portuguese and Spanish translations and stop words for all sections; a section's own translations are in its
 * `section.ts`.
 */

/**
 * Each line has words of both languages without accents, then the English words that they may mean. `_` joins a
 * compound, `#` is a number.
 */
export const translations: readonly string[] = [
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
  'novedad novedades novidade: news notification',
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
  'agora_mesmo ahora_mismo: now',
  'de_uma_vez de_una_vez em_massa en_masa em_lote en_lote: bulk',
]

export const foreignStopWords = new Set(
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
