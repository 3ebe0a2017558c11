import { operation } from '#runtime/operation'
import { stockAlertSettings } from '../schema.ts'
import { alertSettings } from '../settings.ts'

export default operation({
  method: 'GET',
  path: '/stock-notifications/settings',
  description: 'Get the settings of stock alerts; the defaults until they are saved.',
  words: 'back-in-stock alerts, notify me when available, texts of the alert',
  scopes: ['platform:read'],
  readOnly: true,
  feature: 'stock-alerts',
  answer: { status: 200, body: stockAlertSettings },
  etag: true,
  handler: (ctx) => alertSettings.read(ctx),
})
