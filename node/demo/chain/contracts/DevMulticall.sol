// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// @title Several calls as one, for chains of play money only.
///
/// @notice `aggregate3` of the interface known as Multicall3, which Base has and a fresh chain lacks; stock x402
/// facilitators read by it.
contract DevMulticall {
    struct Call3 {
        address target;
        bool allowFailure;
        bytes callData;
    }

    struct Result {
        bool success;
        bytes returnData;
    }

    error CallFailed(uint256 index);

    function aggregate3(Call3[] calldata calls) external payable returns (Result[] memory results) {
        results = new Result[](calls.length);
        for (uint256 i; i < calls.length; ++i) {
            (results[i].success, results[i].returnData) = calls[i].target.call(calls[i].callData);
            if (!results[i].success && !calls[i].allowFailure) revert CallFailed(i);
        }
    }
}
