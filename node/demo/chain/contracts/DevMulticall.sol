// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// @title Several calls as one, for chains of play money only.
///
/// @notice The two methods of the interface known as Multicall3 that viem and stock x402 facilitators read by. Base has it, a
/// fresh chain lacks it.
contract DevMulticall {
    struct Call {
        address target;
        bytes callData;
    }

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

    function tryAggregate(bool requireSuccess, Call[] calldata calls) external payable returns (Result[] memory results) {
        results = new Result[](calls.length);
        for (uint256 i; i < calls.length; ++i) {
            results[i] = _call(calls[i].target, calls[i].callData);
            if (requireSuccess && !results[i].success) revert CallFailed(i);
        }
    }

    function aggregate3(Call3[] calldata calls) external payable returns (Result[] memory results) {
        results = new Result[](calls.length);
        for (uint256 i; i < calls.length; ++i) {
            results[i] = _call(calls[i].target, calls[i].callData);
            if (!calls[i].allowFailure && !results[i].success) revert CallFailed(i);
        }
    }

    function _call(address target, bytes calldata data) private returns (Result memory result) {
        (result.success, result.returnData) = target.call(data);
    }
}
