/** Create and Update as the provider calls them: with what they are about. */
import type { CreateRequest, UpdateRequest } from "../pulumi/calls";
import * as create from "../create/create";
import * as update from "../instance/update";
import type { Session } from "../session/session";

export const createInstance = (session: Session, request: CreateRequest) =>
  create.createInstance(session, request, session.engine.change(request));

export const updateInstance = (session: Session, request: UpdateRequest) =>
  update.updateInstance(session, request, session.engine.change(request));
