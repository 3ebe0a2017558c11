import { section } from '#runtime/section'

export default section({
  title: 'Automations',
  description:
    'Messages sent by what happens in the store: a cart left, an order shipped, a birthday. Each waits for its delay, heeds its conditions, and may go on with waits, checks, coupons and further messages.',
  position: 5,
  order: [
    'post_automations',
    'get_automations',
    'put_automations_by_id',
    'get_automations_by_id',
    'delete_automations_by_id',
    'post_automations_by_id_execute',
    'post_automations_by_id_test',
    'post_automations_executions_by_automationExecutionId_run',
    'post_automations_executions_by_automationExecutionId_cancel',
    'get_automations_by_automationId_report',
    'get_automations_by_automationId_failures',
    'get_automations_by_automationId_flow_stats',
    'get_automations_by_automationId_flow_versions',
  ],
  words: {
    synonyms: ['automation automatic flow workflow', 'cart basket checkout'],
    sectionSynonyms: [
      'automation message trigger rule reminder journey',
      'abandoned leave left forgot unpaid',
      'automation birthday welcome reminder',
      'report result performance recovered',
      'failure fail error problem why skip sent',
      'execution run message waiting scheduled',
      'step stage',
      'version earlier history',
    ],
    translations: [
      'automacao automatizacion automatico automatica automatizar: automation',
      'fluxo flujo: flow',
      'carrinho carrito cesta sacola: cart',
      'sem_pagar sin_pagar nao_pagou nao_pagaram no_pago no_pagaron: unpaid abandoned',
      'abandonar abandonado esquecer esquecido olvidar olvidado largar: abandoned cart',
      'aniversario cumpleanos: birthday automation',
      'lembrar lembrete lembre recordar recordatorio recordarle: remind automation',
      'boas_vindas bienvenida: welcome automation',
      'etapa passo paso: step',
      'versao version: version',
      'rodar rodando correr funcionar funciona funcionando: run work',
    ],
  },
})
