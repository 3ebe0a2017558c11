import { section } from '#runtime/operation'

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
})
