/** The stories of messages: the inbox, and a campaign. */
import { aMinute, lasting, post, step, when, world } from './story-steps.js'

/** What the inbox and templates need: an official number at the provider. */
const officialStatus = '/v1/officialapi/status'
const officialNumber = [
  lasting(
    'store',
    'Opens the setup of its official number.',
    post('/v1/officialapi/setup', {}, ({ setupUrl }) => ({ setupUrl })),
    when(
      officialStatus,
      ({ status }, { setupUrl }) => status === 'connected' || (setupUrl && status === 'setup-pending'),
    ),
  ),
  lasting(
    'provider',
    'Approves the number, and sends the merchant back.',
    post(
      `${world}/messaging/setup`,
      { setupUrl: '{setupUrl}', phone: '+55114{telling}100', displayName: 'The shop', outcome: 'approve' },
      ({ state, code }) => ({ state, code }),
    ),
    when(
      officialStatus,
      ({ status }, { state }) => status === 'connected' || (state && status === 'setup-pending'),
    ),
  ),
  lasting(
    'store',
    'Confirms with what came back: the number is connected.',
    post('/v1/officialapi/confirm-redirect', { state: '{state}', code: '{code}' }),
    when(officialStatus, ({ status }) => status === 'connected'),
  ),
]

const session = '/v1/messaging/session'
const fromPaula = '/v1/inbox/conversations?search=%2B551198{telling}021'
const conversation = '/v1/inbox/conversations/{conversationId}'
export const inboxStory = [
  step(
    'store',
    'Begins a session: a QR code waits to be scanned.',
    post(session, {}),
    when(
      session,
      ({ qr }) => qr.code !== null,
      ({ qr }) => ({ qrCode: qr.code?.payload }),
    ),
  ),
  step(
    'store',
    'Scans the code with the shop’s phone.',
    post(`${world}/messaging/scan`, {
      payload: '{qrCode}',
      phone: '+551197{telling}666',
      name: 'The shop’s phone',
    }),
    when(session, ({ qr }) => qr.status === 'connected'),
  ),
  ...officialNumber,
  lasting(
    'store',
    'Turns the inbox on.',
    post('/v1/inbox/enable'),
    when('/v1/inbox/status', ({ isEnabled }) => isEnabled),
  ),
  step(
    'customer',
    'Writes to the store.',
    post(`${world}/messaging/{store}/inbound`, {
      phone: '+551198{telling}021',
      name: 'Paula Prado',
      text: 'Do you ship to Lisbon?',
    }),
    when(
      fromPaula,
      ({ total }) => total === 1,
      ({ data }) => ({ conversationId: data[0]?.id }),
    ),
  ),
  step(
    'store',
    'Reads what she wrote.',
    post(`${conversation}/read`),
    when(fromPaula, ({ data }) => data[0]?.unreadCount === 0),
  ),
  step(
    'store',
    'Answers in the inbox.',
    post(`${conversation}/messages`, { type: 'text', text: 'Yes, in five days.' }),
    when(`${conversation}/messages?direction=outbound`, ({ data }) =>
      ['sent', 'delivered', 'read'].includes(data[0]?.status),
    ),
  ),
  step(
    'clock',
    'A minute passes: she has read it.',
    aMinute,
    when(`${conversation}/messages?direction=outbound`, ({ data }) => data[0]?.status === 'read'),
  ),
  step(
    'store',
    'Closes the conversation.',
    post(`${conversation}/status`, { status: 'closed' }),
    when(fromPaula, ({ data }) => data[0]?.status === 'closed'),
  ),
]

const theTemplate = '/v1/messaging/templates/{templateId}'
const theCampaign = '/v1/campaigns/{campaignId}'
export const campaignStory = [
  ...officialNumber,
  step(
    'store',
    'Hands in a template, with a header and buttons.',
    post(
      '/v1/messaging/templates',
      {
        name: 'spring_{telling}',
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
    when(theTemplate, ({ status }) => Boolean(status)),
  ),
  step(
    'provider',
    'Approves the template.',
    post(`${world}/messaging/{store}/templates/{templateId}/review`, { status: 'approved' }),
    when(theTemplate, ({ status }) => status === 'approved'),
  ),
  step(
    'store',
    'Imports a list of three people; the last one’s message will fail.',
    post(
      '/v1/campaigns/lists/import/csv',
      {
        name: 'Friends {telling}',
        columns: ['phone', 'name'],
        rows: [
          ['+551198{telling}021', 'Paula Prado'],
          ['+551198{telling}022', 'Rui Reis'],
          ['+55119{telling}0002', 'Sol Silva'],
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
        name: 'Spring {telling}',
        listId: '{listId}',
        content: {
          type: 'template',
          officialapiTemplateId: '{templateId}',
          templateParameters: { body: ['{{firstName|there}}'] },
        },
      },
      ({ id }) => ({ campaignId: id }),
    ),
    when(theCampaign, ({ audience }) => audience.reachable > 0),
  ),
  step(
    'store',
    'Sends it.',
    post(`${theCampaign}/send`),
    when(theCampaign, ({ status }) => status === 'sending' || status === 'sent'),
  ),
  step(
    'clock',
    'A minute passes: two have read it, one failed.',
    aMinute,
    when(theCampaign, ({ counters: { read, failed } }) => read === 2 && failed === 1),
  ),
]
