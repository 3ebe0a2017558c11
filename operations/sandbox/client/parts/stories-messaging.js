/** Stories of the inbox and of a campaign. */
import { aMinute, persistentStep, post, step, when, world } from './story-steps.js'

/** Steps that connect an official number, which the inbox and templates need. */
const officialStatus = '/v1/officialapi/status'
const officialNumber = [
  persistentStep(
    'store',
    'Opens the setup of its official number.',
    post('/v1/officialapi/setup', {}, ({ setupUrl }) => ({ setupUrl })),
    when(
      officialStatus,
      ({ status }, { setupUrl }) => status === 'connected' || (setupUrl && status === 'setup-pending'),
    ),
  ),
  persistentStep(
    'provider',
    'Approves the number, and sends the merchant back.',
    post(
      `${world}/messaging/setup`,
      { setupUrl: '{setupUrl}', phone: '+55114{run}100', displayName: 'The shop', outcome: 'approve' },
      ({ state, code }) => ({ state, code }),
    ),
    when(
      officialStatus,
      ({ status }, { state }) => status === 'connected' || (state && status === 'setup-pending'),
    ),
  ),
  persistentStep(
    'store',
    'Confirms with the returned code: the number is connected.',
    post('/v1/officialapi/confirm-redirect', { state: '{state}', code: '{code}' }),
    when(officialStatus, ({ status }) => status === 'connected'),
  ),
]

const sessionPath = '/v1/messaging/session'
const paulaPath = '/v1/inbox/conversations?search=%2B551198{run}021'
const conversationPath = '/v1/inbox/conversations/{conversationId}'
export const inboxStory = [
  step(
    'store',
    'Starts a session: a QR code is ready to scan.',
    post(sessionPath, {}),
    when(
      sessionPath,
      ({ qr }) => qr.code !== null,
      ({ qr }) => ({ qrCode: qr.code?.payload }),
    ),
  ),
  step(
    'store',
    'Scans the code with the shop’s phone.',
    post(`${world}/messaging/scan`, {
      payload: '{qrCode}',
      phone: '+551197{run}666',
      name: 'The shop’s phone',
    }),
    when(sessionPath, ({ qr }) => qr.status === 'connected'),
  ),
  ...officialNumber,
  persistentStep(
    'store',
    'Turns the inbox on.',
    post('/v1/inbox/enable'),
    when('/v1/inbox/status', ({ isEnabled }) => isEnabled),
  ),
  step(
    'customer',
    'Writes to the store.',
    post(`${world}/messaging/{store}/inbound`, {
      phone: '+551198{run}021',
      name: 'Paula Prado',
      text: 'Do you ship to Lisbon?',
    }),
    when(
      paulaPath,
      ({ total }) => total === 1,
      ({ data }) => ({ conversationId: data[0]?.id }),
    ),
  ),
  step(
    'store',
    'Reads what she wrote.',
    post(`${conversationPath}/read`),
    when(paulaPath, ({ data }) => data[0]?.unreadCount === 0),
  ),
  step(
    'store',
    'Answers in the inbox.',
    post(`${conversationPath}/messages`, { type: 'text', text: 'Yes, in five days.' }),
    when(`${conversationPath}/messages?direction=outbound`, ({ data }) =>
      ['sent', 'delivered', 'read'].includes(data[0]?.status),
    ),
  ),
  step(
    'clock',
    'A minute passes: she has read it.',
    aMinute,
    when(`${conversationPath}/messages?direction=outbound`, ({ data }) => data[0]?.status === 'read'),
  ),
  step(
    'store',
    'Closes the conversation.',
    post(`${conversationPath}/status`, { status: 'closed' }),
    when(paulaPath, ({ data }) => data[0]?.status === 'closed'),
  ),
]

const templatePath = '/v1/messaging/templates/{templateId}'
const campaignPath = '/v1/campaigns/{campaignId}'
export const campaignStory = [
  ...officialNumber,
  step(
    'store',
    'Submits a template, with a header and buttons.',
    post(
      '/v1/messaging/templates',
      {
        name: 'spring_{run}',
        language: 'en_US',
        category: 'marketing',
        header: { type: 'text', text: 'Spring is here' },
        body: 'Hi {{1}}, new colours have come in. Want to see them first?',
        footer: 'Reply STOP to hear no more',
        buttons: [
          { type: 'quick-reply', text: 'Show me' },
          { type: 'url', text: 'Open the shop', url: 'https://shop.example/spring' },
        ],
        examples: { body: ['Ana'] },
      },
      ({ id }) => ({ templateId: id }),
    ),
    when(templatePath, ({ status }) => Boolean(status)),
  ),
  step(
    'provider',
    'Approves the template.',
    post(`${world}/messaging/{store}/templates/{templateId}/review`, { status: 'approved' }),
    when(templatePath, ({ status }) => status === 'approved'),
  ),
  step(
    'store',
    'Imports a list of three people; the last one’s message will fail.',
    post(
      '/v1/campaigns/lists/import/csv',
      {
        name: 'Friends {run}',
        columns: ['phone', 'name'],
        rows: [
          ['+551198{run}021', 'Paula Prado'],
          ['+551198{run}022', 'Rui Reis'],
          ['+55119{run}0002', 'Sol Silva'],
        ],
      },
      ({ listId }) => ({ listId }),
    ),
    when('/v1/campaigns/lists/{listId}/contacts', ({ total }) => total === 3),
  ),
  step(
    'store',
    'Writes the campaign.',
    post(
      '/v1/campaigns',
      {
        name: 'Spring {run}',
        listId: '{listId}',
        content: {
          type: 'template',
          officialapiTemplateId: '{templateId}',
          templateParameters: { body: ['{{firstName|there}}'] },
        },
      },
      ({ id }) => ({ campaignId: id }),
    ),
    when(campaignPath, ({ audience }) => audience.reachable > 0),
  ),
  step(
    'store',
    'Sends it.',
    post(`${campaignPath}/send`),
    when(campaignPath, ({ status }) => status === 'sending' || status === 'sent'),
  ),
  step(
    'clock',
    'A minute passes: two have read it, one failed.',
    aMinute,
    when(campaignPath, ({ counters: { read, failed } }) => read === 2 && failed === 1),
  ),
]
