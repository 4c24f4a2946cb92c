/** Whether messages of a status belong to a total of accepted messages: cancelled ones are counted on their own (contract 23.5). */
export const isAccepted = (status: string): boolean => status !== 'cancelled'
