/** The owner key (`files.setUses`) of a request's shipping label, for a label that was uploaded to our storage. */
export const getLabelOwner = (requestId: string): string => `exchange-label:${requestId}`
